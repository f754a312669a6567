"""deliver: planned requests, one after the other; each is committed as leaving before it leaves, and what may have left goes out again, identical."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from partner_api import StreamedBody
from partner_api.errors import (
    AmbiguousError,
    CredentialsError,
    InvalidRequestError,
    PartnerError,
    ThrottledError,
    UnavailableError,
)
from shelfsync.budget.switched import sending_to
from shelfsync.errors import ConfigurationError, DataError, StaleRunError, StoppedError, TryAgainError
from shelfsync.flow.each_vendor import TAKEN_PATIENCE_S, Skip
from shelfsync.flow.holding import HeldBody, holding
from shelfsync.flow.isolation import database_is_away, reason_of
from shelfsync.flow.promotions.confirm import ALONE, in_doubt, refuse
from shelfsync.ledger import promotion_jobs, promotions, switches
from shelfsync.promotions.plan import meet
from shelfsync.warehouse import promotions as record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partner_api.models.job import Job as PlatformJob
    from shelfsync.flow.house import Parts
    from shelfsync.lake.store import Lake
    from shelfsync.ledger.leases import Lease
    from shelfsync.ledger.promotion_jobs import PromotionJob

log = logging.getLogger(__name__)

RESENDS = 2
_CHUNK_BYTES = 1 << 20


@dataclass
class Sent:
    """How a round went."""

    done: int = 0
    skipped: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    paused: dict[str, str] = field(default_factory=dict)
    """Campaigns that a person has stopped, and who when why."""

    def as_dict(self) -> dict[str, Any]:
        told = {"done": self.done, "skipped": self.skipped, "failed": self.failed, "paused": self.paused}
        return {"step": "deliver", **told}


def deliver(parts: Parts) -> Sent:
    """Sends everything that is planned, and again what a dead process may have sent; of whatever run."""
    sent = Sent()
    try:
        with holding(parts, ALONE, patience_s=TAKEN_PATIENCE_S) as lease:
            _deliver_all(parts, lease, sent)
    except Skip as skip:
        log.info("promotions, deliver: %s", skip)
    return sent


def _deliver_all(parts: Parts, lease: Lease, sent: Sent) -> None:
    with parts.engine.connect() as connection:
        jobs = promotion_jobs.to_send(connection)
    for job in jobs:
        stop = _stopped(parts, job)
        if stop is not None:
            sent.paused[job.campaign] = stop
            continue
        try:
            done = _may_leave(parts, lease, job) and _deliver(parts, lease, job)
        except (ConfigurationError, TryAgainError, UnavailableError, StaleRunError):
            raise
        except StoppedError as error:  # a person stopped it while it waited for its slot
            sent.paused[job.campaign] = str(error)
        except Exception as error:  # one campaign stops no other (I10)
            if database_is_away(error):
                raise
            log.error("promotions, deliver: campaign %s, job %d: %s", job.campaign, job.job_id, reason_of(error))  # noqa: TRY400
            sent.failed[job.campaign] = reason_of(error)
        else:
            sent.done += done
            sent.skipped += not done


def _deliver(parts: Parts, lease: Lease, job: PromotionJob) -> bool:
    """Sends one; False when it need not or must not go."""
    if job.over or (job.state == "submitting" and job.overdue):
        if not job.attempts:
            with parts.engine.begin() as connection:
                lease.hold(connection)
                promotion_jobs.superseded(connection, job.job_id, "the promotion is over by its own end")
                record.record_job(connection, job.job_id)
        return False  # one that may have left is settled at its deadline
    lost: list[str] = []
    try:
        answer = _put_again(parts, lease, job, lost)
    except _GoneError:
        return False
    except InvalidRequestError as error:
        _end_refused(parts, lease, job, error, lost)
        raise
    except ThrottledError as error:
        _give_back(parts, lease, job, error, lost)
        raise TryAgainError(str(error), after_s=error.retry_after_s or 0.0) from error
    except (UnavailableError, TryAgainError, StoppedError) as error:
        _give_back(parts, lease, job, error, lost)
        raise
    except CredentialsError as error:
        _give_back(parts, lease, job, error, lost)
        raise ConfigurationError(
            "shelfsync_platform", str(error), "Nothing was sent with these credentials."
        ) from error
    except AmbiguousError:
        return False  # it stays as it is: unconfirmed until an identical resend is answered, or its deadline
    except PartnerError as error:
        _end_refused(parts, lease, job, error, lost)
        raise
    _take_answer(parts, lease, job, answer)
    return True


def _may_leave(parts: Parts, lease: Lease, job: PromotionJob) -> bool:
    """An end not before the platform has what takes its place, and not at all when it would not: better the old one than none."""
    if job.action != "end":
        return True
    with parts.engine.begin() as connection:
        lease.hold(connection)
        ours = promotions.read(connection, job.promotion_id).vendors
        makings = [one for one in promotion_jobs.makings(connection, job) if meet(one.vendors, ours)]
        if any(one.state in {"refused", "unconfirmed"} for one in makings):
            not_made = True
        elif any(one.state in {"planned", "submitting", "open"} for one in makings):
            return False  # a 202 is a receipt: the job may yet fail, or refuse every SKU
        else:
            not_made = any(one.state == "acknowledged" and not one.there for one in makings)
        if not not_made or job.state != "planned":  # one that may have left goes out again, identical
            return True
        why = "the platform has not made what was to replace it; it stays until that is made"
        promotion_jobs.superseded(connection, job.job_id, why)
        record.record_job(connection, job.job_id)
    return False


def _stopped(parts: Parts, job: PromotionJob) -> str | None:
    """Why nothing may be sent about this promotion now: a kill switch is off for all, for the chain, or for one of its vendors."""
    with parts.engine.connect() as connection:
        off = switches.stops(connection)
        if not off:
            return None
        names = promotions.read(connection, job.promotion_id).vendors
    stop = switches.of_vendors(off, names, chain=parts.settings.platform.chain)
    return None if stop is None else str(stop)


class _GoneError(Exception):
    """A newer plan has put something else in the place of this request."""


def _put_again(parts: Parts, lease: Lease, job: PromotionJob, lost: list[str]) -> PlatformJob:
    """The request, and after an answer that was `lost` the identical one: a repeat is harmless (at worst a DUPLICATE)."""
    for attempt in range(RESENDS):
        try:
            return _put(parts, lease, job)
        except AmbiguousError as error:
            log.warning("promotions, deliver: campaign %s, job %d: %s", job.campaign, job.job_id, error)
            lost.append(str(error))
            parts.clock.sleep(2.0 * (attempt + 1))
    return _put(parts, lease, job)


def _put(parts: Parts, lease: Lease, job: PromotionJob) -> PlatformJob:
    kept = KeptBody(parts.lake, job.body_path, active=job.action != "end")
    body = StreamedBody(HeldBody(kept, parts, lease), job.body_bytes)
    platform = parts.open_platform()
    with parts.engine.begin() as connection:
        lease.hold(connection)
        if not promotion_jobs.begin(connection, job.job_id, deadline_s=parts.settings.promotions.job_deadline_s):
            raise _GoneError
        record.record_job(connection, job.job_id)
        names = promotions.read(connection, job.promotion_id).vendors
    with sending_to(*names):
        return platform.put_promotion(body, lane="promotion")


class KeptBody:
    """The bytes of a body in the lake, read while they are sent; `active` false turns the flag that ends the promotion."""

    def __init__(self, lake: Lake, path: str, *, active: bool) -> None:
        self._lake = lake
        self._path = path
        self._active = active

    def __iter__(self) -> Iterator[bytes]:
        from shelfsync.promotions.body import ACTIVE, ended

        with self._lake.open(self._path) as file:
            first = file.read(_CHUNK_BYTES)
            if not first.startswith(ACTIVE):
                raise DataError(f"{self._path} is no body of a promotion; is the lake that of this database?")
            yield first if self._active else ended(first)
            while chunk := file.read(_CHUNK_BYTES):
                yield chunk


def _take_answer(parts: Parts, lease: Lease, job: PromotionJob, answer: PlatformJob) -> None:
    """Notes the job to ask about; an answer that names none, or another's, cannot be asked about."""
    with parts.engine.begin() as connection:
        lease.hold(connection)
        believed = answer.job_id is not None and promotion_jobs.answered(
            connection,
            job.job_id,
            platform_job_id=answer.job_id,
            status=answer.status,
            poll_after_s=parts.settings.promotions.poll_first_s,
        )
        record.record_job(connection, job.job_id)
    if not believed:
        why = (
            "the platform took the request and named no job, so nobody can ask what became of it"
            if answer.job_id is None
            else f"the platform answered with job {answer.job_id}, which belongs to another request"
        )
        in_doubt(parts, lease, job.job_id, why)
        raise DataError(f"job {job.job_id}: {why}; it will be sent again")


def _end_refused(parts: Parts, lease: Lease, job: PromotionJob, error: Exception, lost: list[str]) -> None:
    """The platform refuses it. An earlier attempt whose answer was lost may have been taken all the same: then it is in doubt."""
    if lost or job.state == "submitting":
        in_doubt(parts, lease, job.job_id, f"an answer was lost, and the repeat was refused: {error}")
    else:
        refuse(parts, lease, job.job_id, str(error))


def _give_back(parts: Parts, lease: Lease, job: PromotionJob, error: Exception, lost: list[str]) -> None:
    """This attempt did nothing. What an earlier one may have done is still not known: then it stays as leaving."""
    with parts.engine.begin() as connection:
        lease.hold(connection)
        if job.state == "planned" and not lost:
            promotion_jobs.given_back(connection, job.job_id, str(error))
        record.record_job(connection, job.job_id)
