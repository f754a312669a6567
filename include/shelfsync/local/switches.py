"""Which DAGs run: the first `make up` of a state folder switches all of them on. After it, a person does."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.chosen_chain import MARK
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
BY_SETTING = "off for the setting"
PARSED_TIMEOUT_S = 600.0


@dataclass(frozen=True)
class Plan:
    """DAGs to be switched on and off now, and those that are off by then for the setting alone."""

    on: list[str]
    off: list[str]
    by_setting: frozenset[str]


def plan(dags: Sequence[Dag], *, earlier: frozenset[str] | None, paused: Collection[str]) -> Plan:
    """`earlier`: `by_setting` of the last start; None: this is the first. `paused`: DAGs of the setting; raises ConfigurationError if one does not exist.

    Nobody can tell a DAG that is new from one that a person has paused since. So later starts leave both off.
    """
    names = [dag.dag_id for dag in dags]
    for wrong in paused:
        if wrong not in names:
            raise ConfigurationError(
                SETTING, f"names {wrong!r}, and there is no such DAG", f"DAGs: {', '.join(names)}."
            )
    off = [dag.dag_id for dag in dags if dag.dag_id in paused and not dag.is_paused]
    ours = frozenset(names) if earlier is None else earlier | {*off}
    return Plan([name for name in names if name in ours and name not in paused], off, ours & {*paused})


def of_chains(dags: Iterable[Dag], chains: Collection[str], alone: str | None) -> list[Dag]:
    """The DAGs of these chains. Airflow shows those of a removed chain until it has parsed their file again. `alone`: the chain that was alone."""
    endings = {"" if chain == alone else chain for chain in chains} or {""}
    return [dag for dag in dags if dag.dag_id.partition(MARK)[2] in endings]


def switch(
    stack: RunningStack,
    paused: Collection[str],
    echo: Callable[[str], None],
    *,
    chains: Collection[str] = (),
    alone: str | None = None,
) -> None:
    """Waits until Airflow has parsed every file of the DAG folder, then switches the DAGs of these chains as `plan` says."""
    marker = stack.place.airflow / MARKER
    with AirflowApi(stack) as airflow:
        dags = of_chains(wait_parsed(stack, airflow), chains, alone)
        wanted = plan(dags, earlier=read(marker), paused=paused)
        for dag_id in wanted.on:
            airflow.unpause(dag_id)
        for dag_id in wanted.off:
            airflow.pause(dag_id)
        write(marker, wanted.by_setting)
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


def read(marker: Path) -> frozenset[str] | None:
    """The DAGs that were off for the setting alone after the last start; None: there was none."""
    if not marker.exists():
        return None
    found = json.loads(marker.read_text("utf-8"))
    return frozenset(found[BY_SETTING] if isinstance(found, dict) else ())


def write(marker: Path, by_setting: Iterable[str]) -> None:
    """Remembers that there was a start, and these DAGs in the place of all before."""
    write_whole(marker, json.dumps({BY_SETTING: sorted(by_setting)}))
