"""deliver: sends planned requests one after the other. Each is committed before it is sent; if it may have been sent, it is sent again, identical."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from partner_api import StreamedBody
from partner_api.errors import AmbiguousError, UnavailableError
from shelfsync.errors import ConfigurationError, DataError, StaleRunError, StoppedError, TryAgainError
from shelfsync.platform import kill_switch
from shelfsync.platform.jobs import job as job_row
from shelfsync.platform.jobs.job import database_is_away, reason_of
from shelfsync.platform.jobs.store_answer import store_answer, unpollable
from shelfsync.platform.jobs.submit import Accepted, GiveBack, GiveUp, Rejected, Request, Unconfirmed, submit
from shelfsync.platform.jobs.table import Kind, State
from shelfsync.platform.rate_limit.rate_limiter import RateLimiter
from shelfsync.platform.rate_limit.scope import counted
from shelfsync.promotions.body import ACTIVE, ended
from shelfsync.promotions.known_promotion import meet
from shelfsync.promotions.ledger import jobs as promotion_jobs
from shelfsync.promotions.ledger import promotions
from shelfsync.promotions.replacement import is_made
from shelfsync.promotions.steps.acknowledge import acknowledge, reject
from shelfsync.promotions.steps.confirm import ALONE
from shelfsync.promotions.warehouse import record
from shelfsync.store.lake import OneFileError
from shelfsync.vendors.held_body import HeldBody
from shelfsync.vendors.step_report import Skip
from shelfsync.vendors.under_lease import TAKEN_WAIT_S, holding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from partner_api.jobs import Job as PlatformJob
    from shelfsync.context import Context
    from shelfsync.platform.rate_limit.forecast import Forecast
    from shelfsync.promotions.ledger.jobs import PromotionJob
    from shelfsync.store.lake import Lake
    from shelfsync.vendors.lease import Lease

log = logging.getLogger(__name__)

_CHUNK_BYTES = 1 << 20


@dataclass
class Sent:
    """The result of one round."""

    done: int = 0
    skipped: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    paused: dict[str, str] = field(default_factory=dict)
    """Campaigns that an operator paused: who, when and why."""

    def as_dict(self) -> dict[str, Any]:
        result = {"done": self.done, "skipped": self.skipped, "failed": self.failed, "paused": self.paused}
        return {"step": "deliver", **result}


def deliver(context: Context, progress: Callable[[str, int, int], None] = lambda *_: None) -> Sent:
    """Sends every planned request, and again those that a dead process may have sent; of every run."""
    sent = Sent()
    try:
        with holding(context, ALONE, wait_s=TAKEN_WAIT_S) as lease:
            _deliver_all(context, lease, sent, progress)
    except Skip as skip:
        log.info("promotions, deliver: %s", skip)
    return sent


def _deliver_all(context: Context, lease: Lease, sent: Sent, progress: Callable[[str, int, int], None]) -> None:
    with context.engine.connect() as connection:
        jobs = promotion_jobs.to_send(connection)
    if jobs:
        log.info("promotions, deliver: all that is planned takes %s", forecast(context, len(jobs)).sentence())
    for number, job in enumerate(jobs):
        progress("deliver", number, len(jobs))
        stop = _stopped(context, job)
        if stop is not None:
            sent.paused[job.campaign] = stop
            continue
        try:
            done = _may_leave(context, lease, job) and _deliver(context, lease, job)
        except (ConfigurationError, TryAgainError, StaleRunError):
            raise
        except StoppedError as error:  # an operator paused it while it waited for a permit
            sent.paused[job.campaign] = str(error)
        except Exception as error:  # one campaign stops no other (I10)
            if database_is_away(error):
                raise
            log.error("promotions, deliver: campaign %s, job %d: %s", job.campaign, job.job_id, reason_of(error))  # noqa: TRY400
            sent.failed[job.campaign] = reason_of(error)
        else:
            sent.done += done
            sent.skipped += not done
    if jobs:
        progress("deliver", len(jobs), len(jobs))


def forecast(context: Context, requests: int) -> Forecast:
    """How long so many requests about promotions take: each is sent once, and its job is polled once."""
    limiter = RateLimiter(context.limits, counted(context.settings), context.clock)
    return limiter.forecast(2 * requests, priority="promotion")


def _deliver(context: Context, lease: Lease, job: PromotionJob) -> bool:
    """Sends one request; False if it need not or must not be sent."""
    if job.over or (job.state == State.SUBMITTING and job.overdue):
        if not job.attempts:
            with context.engine.begin() as connection:
                lease.hold(connection)
                job_row.end(connection, job.job_id, State.SUPERSEDED, "the promotion is over by its own end")
                record.JOB.copy(connection, [job.job_id])
        return False  # if it may have been sent, it is confirmed at its deadline
    return _request(context, lease, job)


def _may_leave(context: Context, lease: Lease, job: PromotionJob) -> bool:
    """Whether a request may be sent. An end waits until the platform has the replacement. If that fails, the old promotion stays."""
    if job.action != "end":
        return True
    with context.engine.begin() as connection:
        lease.hold(connection)
        vendors = promotions.read(connection, job.promotion_id).vendors
        made = is_made([making for making in promotion_jobs.makings(connection, job) if meet(making.vendors, vendors)])
        if made is None:
            return False
        if made or job.state != State.PLANNED:  # if it may have been sent, it is sent again, identical
            return True
        why = "the platform has not made what was to replace it; it stays until that is made"
        job_row.end(connection, job.job_id, State.SUPERSEDED, why)
        record.JOB.copy(connection, [job.job_id])
    return False


def _stopped(context: Context, job: PromotionJob) -> str | None:
    """Why nothing may be sent about this promotion now: a kill switch is off for all, for the chain, or for one of its vendors."""
    with context.engine.connect() as connection:
        off = kill_switch.stops(connection)
        if not off:
            return None
        names = promotions.read(connection, job.promotion_id).vendors
    stop = kill_switch.of_vendors(off, names, chain=context.settings.platform.chain)
    return None if stop is None else str(stop)


def _request(context: Context, lease: Lease, job: PromotionJob) -> bool:
    """Sends it. False: it has no answer yet, or a newer plan has replaced it."""
    try:
        submitted = submit(context, Request(job.job_id, job.name, None, lambda _again: _send(context, lease, job)))
    except _GoneError:
        return False
    match submitted:
        case Accepted(answer):
            _accept(context, lease, job, answer)
            return True
        case GiveBack(why, error):
            _give_back(context, lease, job, why)
            raise _of_every_campaign(error)
        case Unconfirmed(AmbiguousError()):  # it stays until an identical resend is answered, or its deadline passes
            return False
        case Unconfirmed(error):
            raise _of_every_campaign(error)
        case GiveUp(error, earlier) | Rejected(error, earlier):
            if earlier is None:
                reject(context, lease, job.job_id, str(error))
            else:
                acknowledge(context, lease, {job.job_id: earlier})
            raise error


class _GoneError(Exception):
    """A newer plan has replaced this request."""


def _send(context: Context, lease: Lease, job: PromotionJob) -> PlatformJob:
    """Commits the attempt, then sends the body in the lake. A repeat is harmless (at worst a DUPLICATE)."""
    kept = KeptBody(context.lake, job.body_path, active=job.action != "end")
    body = StreamedBody(HeldBody(kept, job.body_bytes, context, lease), job.body_bytes)
    platform = context.open_platform()
    with context.engine.begin() as connection:
        lease.hold(connection)
        deadline_s = context.settings.promotions.job_deadline_s
        if not promotion_jobs.attempt(connection, job.job_id, deadline_s=deadline_s):
            raise _GoneError
        record.JOB.copy(connection, [job.job_id])
        names = promotions.read(connection, job.promotion_id).vendors
    return platform.put_promotion(body, names, priority="promotion")


def _accept(context: Context, lease: Lease, job: PromotionJob, answer: PlatformJob) -> None:
    """The request is with the platform. If its job cannot be polled, it ends as unconfirmed."""
    with context.engine.begin() as connection:
        lease.hold(connection)
        why_not = store_answer(context, connection, Kind.PROMOTION, job.job_id, answer)
        record.JOB.copy(connection, [job.job_id])
    if why_not is not None:
        acknowledge(context, lease, {job.job_id: why_not})
        raise unpollable(job.job_id, why_not)


def _give_back(context: Context, lease: Lease, job: PromotionJob, why: str) -> None:
    """The platform did nothing: the request is planned again."""
    with context.engine.begin() as connection:
        lease.hold(connection)
        job_row.given_back(connection, job.job_id, why)
        record.JOB.copy(connection, [job.job_id])


def _of_every_campaign(error: Exception) -> Exception:
    """If the platform is away, it is away for every campaign."""
    if isinstance(error, UnavailableError):
        return TryAgainError(f"promotions, deliver: {error}")
    return error


class KeptBody:
    """The bytes of a body in the lake, read while they are sent. If `active` is false, the flag that ends the promotion is set."""

    def __init__(self, lake: Lake, path: str, *, active: bool) -> None:
        self._lake = lake
        self._path = path
        self._active = active

    def __iter__(self) -> Iterator[bytes]:
        try:
            with self._lake.open(self._path) as file:
                first = file.read(_CHUNK_BYTES)
                if not first.startswith(ACTIVE):
                    raise DataError(f"{self._path} is no body of a promotion; is the lake that of this database?")
                yield first if self._active else ended(first)
                while chunk := file.read(_CHUNK_BYTES):
                    yield chunk
        except OneFileError as error:  # it is a fault of this request alone
            raise DataError(str(error)) from error
