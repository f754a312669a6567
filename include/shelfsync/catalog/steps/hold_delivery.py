"""Sends an approved hold in this process and waits for the outcome of every SKU."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from shelfsync.catalog.ledger import jobs
from shelfsync.catalog.steps.holds import release
from shelfsync.catalog.steps.run import sent_line, sums
from shelfsync.catalog.steps.sync import left_to_send
from shelfsync.catalog.steps.table import run_step
from shelfsync.catalog.warehouse import record
from shelfsync.platform.jobs.table import Kind
from shelfsync.platform.jobs.wait import until_ended

if TYPE_CHECKING:
    from shelfsync.context import Context

STEP_WORDS = ("deliver", "confirm", "acknowledge")
ROUNDS = 2
"""Open jobs of the run end before the hold is sent, because they may have other fields of the same SKUs."""


def deliver_hold(context: Context, hold_id: int) -> dict[str, Any]:
    """Releases the hold and sends it; `{"run", "vendors", "label", "line", "lines"}`. The first of `lines` says what was sent."""
    released = release(context, hold_id)
    run_id, vendors = released["run"], released["vendors"]
    lines: list[str] = []
    with context.engine.connect() as connection:
        before = jobs.newest(connection)
    for _ in range(ROUNDS):
        if not vendors:
            break
        for word in STEP_WORDS:
            if word == "confirm":
                asyncio.run(until_ended(context, Kind.CATALOG, run_id, vendors))
            report = run_step(context, word, run_id, vendors)
            reasons = report["skipped"] | report["failed"] if word == "deliver" else report["failed"]
            lines += [f"{word}: vendor {name}: {why}" for name, why in reasons.items()]
        vendors = [name for name in left_to_send(context, run_id) if name in vendors]
    with context.engine.begin() as connection:
        record.record_run(connection, run_id)
        sent = sums(connection, run_id, after_job=before)
    done = f"hold {hold_id} ({released['label']}): {sent_line(sent)}" if sent["sent"] else released["line"]
    return {**released, "lines": [done, *lines]}
