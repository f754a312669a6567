"""sync: the whole path in one process, for the command line. The same steps, in the same order, as the DAGs run.

`STEPS` and `EXPORT_STEPS` are the steps by name. A process that does no more than one runs it (`run_step`) under the session lock that shows
that its run is alive. An approved hold is sent in the same way, from its batches on. `export_all` runs the steps of an export.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from shelfsync.catalog import column_reading
from shelfsync.catalog.ledger import batches, runs
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.steps.acknowledge import acknowledge
from shelfsync.catalog.steps.batch import batch
from shelfsync.catalog.steps.confirm import confirm
from shelfsync.catalog.steps.deliver import deliver
from shelfsync.catalog.steps.diff import diff
from shelfsync.catalog.steps.each_vendor import ENDING, PREPARE
from shelfsync.catalog.steps.export import export, plan_exports, report_exports
from shelfsync.catalog.steps.extract import extract
from shelfsync.catalog.steps.guard import guard
from shelfsync.catalog.steps.holds import release
from shelfsync.catalog.steps.normalise import normalise
from shelfsync.catalog.steps.observe import observe
from shelfsync.catalog.steps.reconcile import reconcile
from shelfsync.catalog.steps.recover import recover_open
from shelfsync.catalog.steps.run import report, sent_line, sums
from shelfsync.catalog.warehouse import record
from shelfsync.errors import ShelfsyncError
from shelfsync.platform.jobs.table import Kind
from shelfsync.platform.jobs.wait import until_ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from shelfsync.catalog.column_reading import ColumnReadings
    from shelfsync.context import Context
    from shelfsync.vendors.step_report import StepReport

log = logging.getLogger(__name__)

_Step = TypeVar("_Step")

STEPS: dict[str, Callable[[Context, int, list[str]], StepReport]] = {
    one.__name__: one for one in (normalise, diff, guard, batch, deliver, confirm, acknowledge)
}
"""The steps that work on some vendors of a run, in order; `recover` and `extract` come before them."""

EXPORT_STEPS: dict[str, Callable[[Context, str, list[str]], StepReport]] = {
    one.__name__: one for one in (export, observe, reconcile)
}
"""The steps that work on some vendors of an export run, in order; a wait comes after the first."""


def recover(context: Context, run_id: int) -> dict[str, Any]:
    """Finishes the open jobs of the run's vendors; returns what `recover_open` does. A dry run leaves them alone."""
    with context.engine.connect() as connection:
        run = runs.read_run(connection, run_id)
    if run.dry_run:
        return {"run_ids": [], "delivered": 0, "confirmed": 0, "acknowledged": 0, "failed": {}}
    return recover_open(context, run.vendors or None)


def step(context: Context, word: str, run_id: int, vendors: Iterable[str]) -> dict[str, Any]:
    """One of STEPS over some vendors; returns `{"step", "done", "skipped", "failed"}`."""
    return _named(STEPS, word)(context, run_id, list(vendors)).as_dict()


def run_recover(context: Context, run_id: int) -> dict[str, Any]:
    """`recover` as a process of its own, under the session lock that shows that its run is alive."""
    with runs.at_work(context.engine, run_id):
        return recover(context, run_id)


def run_extract(context: Context, run_id: int) -> list[dict[str, Any]]:
    """`extract`, in the same way: reads the ERP; returns the shards. A dry run logs what was understood of each column."""
    with context.engine.connect() as connection:
        dry_run = runs.read_run(connection, run_id).dry_run
    with runs.at_work(context.engine, run_id):
        if not dry_run:
            return extract(context, run_id)

        columns = column_reading.ColumnReadings()
        shards = extract(context, run_id, columns)
    for line in column_reading.lines(columns.rows()):
        log.info("extract: %s", line)
    return shards


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


TOGETHER = 10
"""How many vendors acknowledge takes at a time, in the order of sending. confirm takes all: a slow log holds back no other store's."""


def sync(
    context: Context,
    run_id: int,
    *,
    dry_run: bool,
    progress: Callable[[str, int, int], None],
    wait_s: float | None = None,
    columns: ColumnReadings | None = None,
) -> dict[str, Any]:
    """Runs an open run to its report. `progress(step, done, all)` is called as vendors go through each step.

    `wait_s`: how long it waits for its jobs; what has not ended by then is left to the next run. None: until their deadline. `columns`: see
    what a plan reads of the ERP.
    """
    with runs.at_work(context.engine, run_id, whole=True):
        progress("recover", 0, 1)
        recover(context, run_id)
        progress("recover", 1, 1)
        progress("extract", 0, 1)
        shards = extract(context, run_id, columns)
        progress("extract", 1, 1)
        for word in PREPARE if dry_run else PREPARE[:-1]:
            _each_group(context, word, run_id, _groups(shards), progress)
        return report(context, run_id) if dry_run else finish(context, run_id, shards, progress, wait_s)


def finish(
    context: Context,
    run_id: int,
    shards: list[dict[str, Any]],
    progress: Callable[[str, int, int], None],
    wait_s: float | None = None,
) -> dict[str, Any]:
    """From the batches on: sends, waits and acknowledges until nothing is in flight or `wait_s` is over, and reports."""
    groups = _groups(shards)
    _each_group(context, "batch", run_id, groups, progress)
    vendors = [vendor for group in groups for vendor in group]
    deliver(context, run_id, vendors, progress=partial(progress, "deliver"))
    while sent := in_flight(context, run_id):
        progress("wait", 0, len(sent))
        asyncio.run(until_ended(context, Kind.CATALOG, run_id, sent, wait_s=wait_s))
        progress("wait", len(sent), len(sent))
        confirmed = confirm(context, run_id, sent, progress=partial(progress, "confirm"))
        groups = [sent[start : start + TOGETHER] for start in range(0, len(sent), TOGETHER)]
        acknowledged = _each_group(context, "acknowledge", run_id, groups, progress)
        if not (confirmed.done or acknowledged):
            break  # the open jobs had no end before their deadline; the run reports them
        if left := left_to_send(context, run_id):  # the halves of a request that the platform rejected as a whole
            step(context, "deliver", run_id, left)
        elif wait_s is not None:
            break  # a job that is still open is recovered by the next run
    return report(context, run_id)


def _groups(shards: list[dict[str, Any]]) -> list[list[str]]:
    return [shard["vendors"] for shard in shards]


def _each_group(
    context: Context,
    word: str,
    run_id: int,
    groups: list[list[str]],
    progress: Callable[[str, int, int], None],
) -> int:
    """One step over all groups of vendors; how many vendors it did."""
    seen, done, vendors = 0, 0, sum(map(len, groups))
    progress(word, 0, vendors)
    for group in groups:
        done += step(context, word, run_id, group)["done"]
        seen += len(group)
        progress(word, seen, vendors)
    return done


def in_flight(context: Context, run_id: int) -> list[str]:
    """Vendors of this run that have an open job on the platform, in the order of sending."""
    with context.engine.connect() as connection:
        found = catalog_jobs.open_jobs(connection, run_id=run_id)
    return list(dict.fromkeys(job.vendor for job in sorted(found, key=lambda job: job.job_id)))


def left_to_send(context: Context, run_id: int) -> list[str]:
    """Vendors of this run that have batches which were not sent."""
    with context.engine.connect() as connection:
        return [vendor for run, vendor in batches.vendors_with_planned(connection) if run == run_id]


HOLD_ROUNDS = 2
"""Open jobs of the run end before the hold is sent, because they may have other fields of the same SKUs."""


def deliver_holds(context: Context, hold_ids: Sequence[int]) -> dict[str, Any]:
    """Releases approved holds and sends them, those of one run together; `{"released": [...], "lines": [...]}`.

    `released`: `{"run", "vendors", "label", "line"}` of each hold. `lines` begins with what was sent of each run.
    """
    released = {hold_id: release(context, hold_id) for hold_id in hold_ids}
    done: list[str] = []
    troubles: list[str] = []
    for run_id in dict.fromkeys(one["run"] for one in released.values()):
        of_run = {hold_id: one for hold_id, one in released.items() if one["run"] == run_id}
        vendors = sorted({vendor for one in of_run.values() for vendor in one["vendors"]})
        sent = _send_released(context, run_id, vendors, troubles)
        if not sent["sent"]:
            done += [one["line"] for one in of_run.values()]
            continue
        done += [one["line"] for one in of_run.values() if not one["vendors"]]
        named = [f"hold {hold_id} ({one['label']})" for hold_id, one in of_run.items() if one["vendors"]]
        done.append(f"{named[0] if len(named) == 1 else f'{len(named)} holds of run {run_id}'}: {sent_line(sent)}")
    return {"released": list(released.values()), "lines": done + troubles}


def _send_released(context: Context, run_id: int, vendors: list[str], troubles: list[str]) -> dict[str, int]:
    """Sends what is planned of a run's vendors; the sums of what left. What failed is added to `troubles`."""
    with context.engine.connect() as connection:
        before = catalog_jobs.newest(connection)
    for _ in range(HOLD_ROUNDS):
        if not vendors:
            break
        for word in ENDING:
            if word == "confirm":
                asyncio.run(until_ended(context, Kind.CATALOG, run_id, vendors))
            report = run_step(context, word, run_id, vendors)
            reasons = report["skipped"] | report["failed"] if word == "deliver" else report["failed"]
            troubles += [f"{word}: vendor {name}: {why}" for name, why in reasons.items()]
        vendors = [name for name in left_to_send(context, run_id) if name in vendors]
    with context.engine.begin() as connection:
        record.RUN.copy(connection, [run_id])
        return sums(connection, run_id, after_job=before)


def export_all(
    context: Context, key: str, vendors: tuple[str, ...], *, progress: Callable[[str, int, int], None]
) -> dict[str, Any]:
    """Runs an export run to its report. `progress(step, done, all)` is called as vendors go through each step."""
    shards = plan_exports(context, key, vendors)
    names = [name for shard in shards for name in shard["vendors"]]
    for word in ("export", "wait", "observe", "reconcile"):
        done = 0
        progress(word, done, len(names))
        for shard in shards:
            if word == "wait":
                asyncio.run(until_ended(context, Kind.EXPORT, key, shard["vendors"]))
            else:
                run_export_step(context, word, key, shard["vendors"])
            done += len(shard["vendors"])
            progress(word, done, len(names))
    return report_exports(context, key)
