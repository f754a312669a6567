"""sync: all steps of a run of the promotions in one process, for the command line."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from shelfsync.platform.jobs.table import Kind
from shelfsync.platform.jobs.wait import until_ended
from shelfsync.promotions.ledger import runs as promotion_runs
from shelfsync.promotions.steps.confirm import confirm
from shelfsync.promotions.steps.deliver import deliver
from shelfsync.promotions.steps.extract import extract
from shelfsync.promotions.steps.plan import plan
from shelfsync.promotions.steps.report import report

if TYPE_CHECKING:
    from collections.abc import Callable

    from shelfsync.context import Context


def sync(context: Context, run_id: int, progress: Callable[[str, int, int], None] = lambda *_: None) -> dict[str, Any]:
    """Runs an open run to its report, for the command line (docs/how-to/promotions.md). A dry run ends with the plan."""
    extract(context, run_id)
    plan(context, run_id)
    with context.engine.connect() as connection:
        dry = promotion_runs.read(connection, run_id).dry_run
    if not dry:
        for _ in ("the changes", "ends of what was replaced"):  # the ends leave when the platform has made the others
            deliver(context, progress)
            asyncio.run(until_ended(context, Kind.PROMOTION, run_id, progress=progress))
            confirm(context)
    return report(context, run_id)
