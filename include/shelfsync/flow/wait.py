"""Waiting for jobs: no worker is held, nothing is sent, and everything that ends the wait is a durable fact.

May be stopped and started again at any time and place: it only reads tables, and asks the platform when a job's next question is due.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import InterfaceError, OperationalError

from partner_api.errors import PartnerError
from shelfsync.errors import ShelfsyncError
from shelfsync.flow import hear
from shelfsync.flow.listen import listener_of
from shelfsync.ledger import jobs
from shelfsync.ledger.engine import libpq_url

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.jobs import Job

log = logging.getLogger(__name__)

LOOK_AGAIN_S = 10.0
"""How often the tables are read when no notification comes."""
_GRACE_S = 60.0


async def until_settled(parts: Parts, run_id: int, vendors: Iterable[str]) -> dict[str, Any]:
    """Ends when no job of these vendors and this run is worth waiting for: each has ended, or its deadline has passed.

    Returns counts only: `{"ended": n, "left": n}`; the next step reads the ledger.
    """
    names = list(vendors)
    loop = asyncio.get_running_loop()
    end = loop.time() + parts.settings.sync.job_deadline_s + _GRACE_S
    seen = 0
    async with listener_of(libpq_url(parts.engine)).subscription() as bell:
        while True:
            bell.clear()
            waiting: list[Job] | None = None
            with contextlib.suppress(OperationalError, InterfaceError):
                waiting = await asyncio.to_thread(_waiting, parts, run_id, names)
            if waiting is not None:
                seen = max(seen, len(waiting))
                if not waiting:
                    return {"ended": seen, "left": 0}
                if await _ask_those_due(parts, waiting):
                    continue
            if loop.time() >= end:
                return {"ended": seen - len(waiting or []), "left": len(waiting or [])}
            pause_s = min([LOOK_AGAIN_S, *(max(0.1, min(job.wait_s, job.left_s)) for job in waiting or [])])
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(bell.wait(), pause_s)


def _waiting(parts: Parts, run_id: int, names: list[str]) -> list[Job]:
    """Jobs the platform has taken and of whose end nothing is known; one whose answer was lost is the schedule's business."""
    with parts.engine.connect() as connection:
        found = jobs.open_jobs(connection, run_id=run_id, vendors=names)
    return [job for job in found if job.state == "open" and not job.overdue and not hear.known(parts, job).ended]


async def _ask_those_due(parts: Parts, waiting: list[Job]) -> bool:
    """Asks the platform about jobs whose time has come; True when at least one was asked."""
    asked = False
    for job in waiting:
        if job.poll_due:
            asked = True
            try:
                await asyncio.to_thread(hear.ask, parts, job)
            except (PartnerError, ShelfsyncError) as error:
                log.warning("wait: vendor %s, job %d: %s", job.vendor, job.job_id, error)
                await asyncio.to_thread(hear.later, parts, job)
    return asked
