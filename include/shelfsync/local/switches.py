"""Which DAGs run: `make up` switches on new DAGs, once. A DAG that a person pauses later stays paused."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.errors import ConfigurationError
from shelfsync.local.airflow_api import AirflowApi
from shelfsync.local.state_folder import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from pathlib import Path

    from shelfsync.local.airflow_api import Dag
    from shelfsync.local.stack import RunningStack

TAG = "shelfsync"
SETTING = "SHELFSYNC_LOCAL__PAUSED_DAGS"
MARKER = "switched-on"
PARSED_TIMEOUT_S = 600.0


@dataclass(frozen=True)
class Plan:
    """DAGs to be switched on and off now, and those that have been switched on by then."""

    on: list[str]
    off: list[str]
    known: frozenset[str]


def plan(dags: Sequence[Dag], *, known: frozenset[str], paused: Collection[str]) -> Plan:
    """`known`: DAGs that were switched on before. `paused`: DAGs of the setting; raises ConfigurationError if one does not exist."""
    names = [dag.dag_id for dag in dags]
    for wrong in paused:
        if wrong not in names:
            raise ConfigurationError(
                SETTING, f"names {wrong!r}, and there is no such DAG", f"DAGs: {', '.join(names)}."
            )
    on = [name for name in names if name not in known and name not in paused]
    off = [dag.dag_id for dag in dags if dag.dag_id in paused and not dag.is_paused]
    return Plan(on, off, (known | {*on}) - {*paused})


def switch(stack: RunningStack, paused: Collection[str], echo: Callable[[str], None]) -> None:
    """Waits until Airflow has parsed every file of the DAG folder, then switches on every DAG that is new here."""
    marker = stack.place.airflow / MARKER
    with AirflowApi(stack) as airflow:
        dags = wait_parsed(stack, airflow)
        wanted = plan(dags, known=read(marker), paused=paused)
        for dag_id in wanted.on:
            airflow.unpause(dag_id)
        for dag_id in wanted.off:
            airflow.pause(dag_id)
        write(marker, wanted.known)
    running = [
        dag.dag_id for dag in dags if dag.dag_id in wanted.on or (not dag.is_paused and dag.dag_id not in paused)
    ]
    still = sorted({dag.dag_id for dag in dags} - {*running})
    echo(f"{len(running)} DAGs are switched on" + (f", paused: {', '.join(still)}" if still else ""))


def wait_parsed(stack: RunningStack, airflow: AirflowApi) -> list[Dag]:
    """All DAGs with shelfsync's tag, after Airflow has parsed every file of the folder. Raises ShelfsyncError if a file cannot be imported."""
    files = dag_files(stack.place.project / "dags")

    def parsed() -> bool:
        left = missing(files, airflow.dags(TAG))
        if left:
            airflow.fail_on_import_errors(left)
        return not left

    stack.wait_for(
        parsed, what="Airflow to parse every DAG", timeout_s=PARSED_TIMEOUT_S, log_of="dag-processor", every_s=1.0
    )
    return airflow.dags(TAG)


def dag_files(folder: Path) -> set[str]:
    """The files that contain a DAG of shelfsync."""
    return {file.name for file in folder.glob("*.py") if "shelfsync_airflow" in file.read_text("utf-8")}


def missing(files: Iterable[str], dags: Iterable[Dag]) -> list[str]:
    """The files without a parsed DAG so far."""
    return sorted({*files} - {dag.file for dag in dags})


def read(marker: Path) -> frozenset[str]:
    """The DAGs that were switched on before."""
    return frozenset(json.loads(marker.read_text("utf-8"))) if marker.exists() else frozenset()


def write(marker: Path, known: Iterable[str]) -> None:
    """Remembers these DAGs in the place of all before."""
    write_whole(marker, json.dumps(sorted(known)))
