"""What a page notes about a DAG that feeds it and is switched off or not known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request

from shelfsync.chosen_chain import of_chain

DagStates = Callable[[Collection[str]], Mapping[str, bool]]
"""Which of these DAGs are paused; a DAG that the scheduler does not know is missing in the result."""
StartRun = Callable[[str, Mapping[str, Any], str], None]
"""Starts a run of this DAG with these parameters, in the name of this user."""

MISSING = {
    "alerts_watch": "no alert opens or closes, and no person gets a message",
    "catalog_full_sync": "no full sync runs, and a new store gets no assortment",
    "catalog_delta_sync": "changes in the ERP reach the platform with the next full sync only",
    "catalog_recover": "jobs with a lost event are not finished, and approved changes are not sent",
    "catalog_urgent_sync": "an urgent run of the operator does not start",
    "catalog_holds": "Airflow asks for no decision about held changes; this page can decide them",
    "assortment_export": "shelfsync reads no export, so it finds no differences",
    "promotions_sync": "promotions of the ERP are not created, changed or ended",
    "promotions_recover": "promotion requests with a lost answer are not sent again",
    "orders_fulfilment": "orders do not reach the stores, and picking results do not reach the platform",
    "orders_history": "orders that no event reported are not found",
    "housekeeping": "nothing old is removed, so the database and the files grow",
}
"""The work that stops while a DAG does not run."""


@dataclass(frozen=True)
class Feed:
    """A DAG that feeds a page. `paused` None: the scheduler does not know it. `chain`: whose DAG it is."""

    dag_id: str
    paused: bool | None
    chain: str | None = None

    @property
    def name(self) -> str:
        """What the chain's own DAG is called."""
        return of_chain(self.dag_id, self.chain)

    @property
    def note(self) -> str | None:
        """The page's note about it; None while it runs."""
        match self.paused:
            case False:
                return None
            case True:
                return (
                    f"DAG {self.name} is switched off: {MISSING[self.dag_id]}."
                    f" Switch it on: in Airflow under Dags, or `airflow dags unpause {self.name}`."
                )
            case _:
                return (
                    f"DAG {self.name} is not known to Airflow: {MISSING[self.dag_id]}."
                    " Its file is not parsed yet, or cannot be imported: `airflow dags list-import-errors`."
                )


def fed_by(dag_ids: Collection[str], states: DagStates | None, chain: str | None) -> Callable[[Request], None]:
    """A FastAPI dependency that leaves the `Feed`s of a page in the request's state; none where the DAGs' states are unknown."""

    def look(request: Request) -> None:
        if states is None or not dag_ids or request.method != "GET":
            return
        paused = states(dag_ids)
        request.state.feeds = tuple(Feed(dag_id, paused.get(dag_id), chain) for dag_id in dag_ids)

    return look
