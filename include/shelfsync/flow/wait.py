"""Waiting for jobs: no worker is held, nothing is sent, and everything that ends the wait is a durable fact.

May be stopped and started again at any time and place: it only reads tables, and asks the platform when a job's next question is due.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sqlalchemy.exc import InterfaceError, OperationalError

from shelfsync.flow import hear
from shelfsync.flow.isolation import ask_alone, reason_of
from shelfsync.flow.listen import listener_of
from shelfsync.ledger import batches, jobs
from shelfsync.ledger.engine import libpq_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.jobs import Job

log = logging.getLogger(__name__)

LOOK_AGAIN_S = 10.0
"""How often the tables are read when no notification comes."""
GRACE_S = 60.0


class Awaited(Protocol):
    """Something the platform works on, as the database has it: when to ask about it, and when to stop waiting."""

    @property
    def wait_s(self) -> float: ...

    @property
    def left_s(self) -> float: ...

    @property
    def poll_due(self) -> bool: ...


T = TypeVar("T", bound=Awaited)


async def until_settled(parts: Parts, run_id: int, vendors: Iterable[str], *, for_all: bool = True) -> dict[str, Any]:
    """Ends when no job of these vendors and this run is worth waiting for: each has ended, or its deadline has passed.

    Without `for_all` it also ends when a job has ended after which its vendor has more to send: that must not wait for the slowest
    of the others. Returns counts only: `{"ended": n, "left": n, "open": n}`, `open` being the jobs of these vendors that the next
    step can or will have to do something about; the next step reads the ledger.
    """
    names = list(vendors)

    opened = await asyncio.to_thread(_taken, parts, run_id, names)
    facts = await until_none(
        parts,
        partial(waiting, parts, run_id, names),
        partial(ask, parts),
        deadline_s=parts.settings.sync.job_deadline_s,
        enough=None if for_all else partial(_has_more, parts, run_id, names),
    )
    return {**facts, "open": opened}


async def until_none(
    parts: Parts,
    those_left: Callable[[], list[T]],
    ask_about: Callable[[T], bool],
    *,
    deadline_s: float,
    enough: Callable[[], bool] | None = None,
) -> dict[str, Any]:
    """Ends when `those_left` finds nothing more, or some time after the deadline; `ask_about` is called for whatever is due.

    `enough`: ends it too. All are called on a thread and read or write the database; `{"ended": n, "left": n}`. Whatever they raise,
    the tables are looked at again, and the deadline ends the wait. `ask_about` is False where the next question could not be put off.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + deadline_s + GRACE_S
    seen = 0
    async with listener_of(libpq_url(parts.engine)).subscription() as bell:
        while True:
            bell.clear()
            left: list[T] | None = None
            put_off = True
            try:
                left = await asyncio.to_thread(those_left)
            except Exception as error:  # noqa: BLE001  whatever it is, the wait ends at its deadline (I15)
                log.warning("wait: the jobs cannot be looked at now: %s", reason_of(error))
            if left is not None:
                seen = max(seen, len(left))
                if not left:
                    return {"ended": seen, "left": 0}
                if enough is not None and await asyncio.to_thread(enough):
                    return {"ended": seen - len(left), "left": len(left)}
                due = [one for one in left if one.poll_due]
                for one in due:
                    put_off &= await asyncio.to_thread(ask_about, one)
                if due and put_off:
                    continue
            if loop.time() >= end:
                return {"ended": seen - len(left or []), "left": len(left or [])}
            waits_s = [max(0.1, min(one.wait_s, one.left_s)) for one in left or []] if put_off else []
            pause_s = min([LOOK_AGAIN_S, *waits_s])
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(bell.wait(), pause_s)


def waiting(parts: Parts, run_id: int, names: list[str]) -> list[Job]:
    """Jobs the platform has taken and of whose end nothing is known; one whose answer was lost is the schedule's business."""
    with parts.engine.connect() as connection:
        found = jobs.open_jobs(connection, run_id=run_id, vendors=names)
    return [job for job in found if job.state == "open" and not job.overdue and not hear.known(parts, job).ended]


def _taken(parts: Parts, run_id: int, names: list[str]) -> int:
    """Jobs that the platform has taken and that are not at their end; one when the database cannot say, so that nobody skips them."""
    try:
        with parts.engine.connect() as connection:
            found = jobs.open_jobs(connection, run_id=run_id, vendors=names)
    except (OperationalError, InterfaceError):
        return 1
    return sum(job.state in {"open", "confirmed"} for job in found)


def _has_more(parts: Parts, run_id: int, names: list[str]) -> bool:
    """Whether a vendor whose job has ended has more to send in this run; False when the database cannot say."""
    try:
        with parts.engine.connect() as connection:
            more = {vendor for of, vendor in batches.vendors_with_planned(connection) if of == run_id}
            found = jobs.open_jobs(connection, run_id=run_id, vendors=sorted(more & set(names))) if more else []
    except (OperationalError, InterfaceError):
        return False
    return any(
        job.state == "confirmed" or (job.state == "open" and (job.overdue or hear.known(parts, job).ended))
        for job in found
    )


def ask(parts: Parts, job: Job) -> bool:
    """One question about a job; one that fails is put again later, as if it had been answered."""
    return ask_alone(
        job, partial(hear.ask, parts), partial(hear.later, parts), f"vendor {job.vendor}, job {job.job_id}"
    )
