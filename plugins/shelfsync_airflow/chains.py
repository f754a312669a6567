"""The DAGs of each chain out of one file.

A DAG of the chain `north` is called `catalog_delta_sync__north`; an installation without chains, and the chain that was alone, have
`catalog_delta_sync`.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from airflow.sdk import dag

from shelfsync.chains import chain_names
from shelfsync.chosen_chain import chain_in_use, chosen, of_chain
from shelfsync.required_chain import require_chain
from shelfsync_airflow import options, schedules
from shelfsync_airflow.option import SECTION
from shelfsync_airflow.retries import AfterItsTime

if TYPE_CHECKING:
    from collections.abc import Callable


def chains_here() -> tuple[str | None, ...]:
    """The chains for which this Airflow works: the one that SHELFSYNC_CHAIN names, or all; (None,) if the installation has none."""
    chain, names = chain_in_use(), chain_names()
    if chain is not None:
        require_chain(chain, names)
        return (chain,)
    return names or (None,)


def dag_of_each_chain(
    text: str | None,
    tag: str,
    *,
    hours: float,
    schedule: str | Callable[[], Any] | None = None,
    **more: Any,
) -> Callable[[Callable[[], None]], None]:
    """Makes a DAG of the decorated function for each chain. Each task may run twice, so each is repeated.

    `text`: the page of the DAG. `hours`: how long a run may last. `schedule`: the option that has it, or what returns it for the chain in
    use. `more`: arguments of a DAG.
    """

    def make(function: Callable[[], None]) -> None:
        for chain in chains_here():
            with chosen(chain):
                dag(
                    dag_id=of_chain(function.__name__, chain),
                    schedule=schedule() if callable(schedule) else schedule and schedules.timetable(schedule),
                    start_date=dt.datetime(2025, 1, 1, tzinfo=dt.UTC),
                    catchup=False,
                    dagrun_timeout=dt.timedelta(hours=hours),
                    default_args={
                        "owner": options.owner(),
                        "retries": options.retries(),
                        "retry_delay": options.retry_delay(),
                        "retry_policy": AfterItsTime(),
                    },
                    tags=[SECTION, tag, *([chain] if chain is not None else [])],
                    owner_links=options.owner_links(),
                    doc_md=text,
                    description=_sentence(text),
                    **{"max_active_runs": 1, **more},
                )(function)()

    return make


def _sentence(text: str | None) -> str | None:
    """What Airflow's list of DAGs shows: the first sentence below the title."""
    if text is None:
        return None
    said = text.split("\n\n")[1].replace("\n", " ").replace("**", "").replace("`", "")
    return f"{said.split('. ')[0].strip().removesuffix('.')}."
