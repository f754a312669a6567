"""The DAGs that feed a page, and what a person is shown while one of them does not run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from fastapi import Request

DagStates = Callable[[Collection[str]], Mapping[str, bool]]
"""Which of these DAGs are paused; a DAG that the scheduler does not know is missing in the answer."""

MISSING = {
    "catalog_full_sync": "no store is made equal to the ERP as a whole, and a new store does not begin",
    "catalog_delta_sync": "what changes in the ERP reaches the platform with the next full sync only",
    "catalog_settle": "jobs whose event was lost are not finished, and approved changes are not sent",
    "catalog_urgent_sync": "an urgent run that a person starts does not begin",
    "catalog_holds": "Airflow asks no person about held changes; they can be decided on this page",
    "assortment_export": "what the platform really shows is not read, so drift is not found",
    "promotions_sync": "promotions of the ERP are not made, changed or ended",
    "promotions_settle": "promotion requests whose answer was lost are not sent again",
    "orders_fulfilment": "orders do not reach the stores, and picking results do not reach the platform",
    "orders_history": "orders that no event reported are not found",
    "housekeeping": "nothing is removed after its retention, so ledger and lake grow",
}
"""What does not happen while a DAG does not run."""


@dataclass(frozen=True)
class Feed:
    """A DAG that feeds a page. `paused` None: the scheduler does not know it."""

    dag_id: str
    paused: bool | None

    @property
    def note(self) -> str | None:
        """What the page says about it; None while it runs."""
        match self.paused:
            case False:
                return None
            case True:
                return (
                    f"DAG {self.dag_id} is switched off: {MISSING[self.dag_id]}."
                    f" Switch it on: in Airflow under Dags, or `airflow dags unpause {self.dag_id}`."
                )
            case _:
                return (
                    f"DAG {self.dag_id} is not known to Airflow: {MISSING[self.dag_id]}."
                    " Its file is not parsed yet, or cannot be imported: `airflow dags list-import-errors`."
                )


def fed_by(dag_ids: Collection[str], states: DagStates | None) -> Callable[[Request], None]:
    """A FastAPI dependency that leaves the `Feed`s of a page in the request's state; none where nobody knows the DAGs."""

    def look(request: Request) -> None:
        if states is None or not dag_ids or request.method != "GET":
            return
        paused = states(dag_ids)
        request.state.feeds = tuple(Feed(dag_id, paused.get(dag_id)) for dag_id in dag_ids)

    return look
