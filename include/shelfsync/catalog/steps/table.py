"""The steps by name. A process that does no more than one runs it under the session lock that shows that its run is alive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from shelfsync.catalog.ledger import runs
from shelfsync.catalog.steps.acknowledge import acknowledge
from shelfsync.catalog.steps.batch import batch
from shelfsync.catalog.steps.confirm import confirm
from shelfsync.catalog.steps.deliver import deliver
from shelfsync.catalog.steps.diff import diff
from shelfsync.catalog.steps.export import export
from shelfsync.catalog.steps.extract import extract
from shelfsync.catalog.steps.guard import guard
from shelfsync.catalog.steps.normalise import normalise
from shelfsync.catalog.steps.observe import observe
from shelfsync.catalog.steps.reconcile import reconcile
from shelfsync.catalog.steps.recover import recover_open
from shelfsync.errors import ShelfsyncError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from shelfsync.catalog.steps.each_vendor import StepReport
    from shelfsync.context import Context

_Step = TypeVar("_Step")

STEPS: dict[str, Callable[[Context, int, list[str]], StepReport]] = {
    "normalise": normalise,
    "diff": diff,
    "guard": guard,
    "batch": batch,
    "deliver": deliver,
    "confirm": confirm,
    "acknowledge": acknowledge,
}
"""The steps that work on some vendors of a run, in order; `recover` and `extract` come before them."""

EXPORT_STEPS: dict[str, Callable[[Context, str, list[str]], StepReport]] = {
    "export": export,
    "observe": observe,
    "reconcile": reconcile,
}
"""The steps that work on some vendors of an export run, in order; a wait comes after the first."""


def recover(context: Context, run_id: int) -> dict[str, Any]:
    """Finishes the open jobs of the run's vendors; returns what `recover_open` does. A dry run leaves them alone."""
    with context.engine.connect() as connection:
        run = runs.read_run(connection, run_id)
    if run.dry_run:
        return {"runs": [], "delivered": 0, "confirmed": 0, "acknowledged": 0, "failed": {}}
    return recover_open(context, run.vendors or None)


def step(context: Context, word: str, run_id: int, vendors: Iterable[str]) -> dict[str, Any]:
    """One of STEPS over some vendors; returns `{"step", "done", "skipped", "failed"}`."""
    return _named(STEPS, word)(context, run_id, list(vendors)).as_dict()


def run_recover(context: Context, run_id: int) -> dict[str, Any]:
    """`recover` as a process of its own, under the session lock that shows that its run is alive."""
    with runs.at_work(context.engine, run_id):
        return recover(context, run_id)


def run_extract(context: Context, run_id: int) -> list[dict[str, Any]]:
    """`extract`, in the same way: reads the ERP; returns the shards."""
    with runs.at_work(context.engine, run_id):
        return extract(context, run_id)


def run_step(context: Context, word: str, run_id: int, vendors: Iterable[str]) -> dict[str, Any]:
    """`step`, in the same way."""
    with runs.at_work(context.engine, run_id):
        return step(context, word, run_id, vendors)


def run_export_step(context: Context, word: str, key: str, vendors: Iterable[str]) -> dict[str, Any]:
    """One of EXPORT_STEPS over some vendors; returns the same as `run_step`."""
    return _named(EXPORT_STEPS, word)(context, key, list(vendors)).as_dict()


def _named(steps: Mapping[str, _Step], word: str) -> _Step:
    if word not in steps:
        raise ShelfsyncError(f"there is no step {word!r}; the steps are {', '.join(steps)}")
    return steps[word]
