"""Submits the request of a job: its row is committed before the request is sent. This module decides for every kind what an answer means.

An answer that was lost is followed by the identical request, because a repeat is harmless. Whether the platform accepted a request that
was never answered is unknown; no later answer shows it (I7).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from partner_api.errors import (
    AmbiguousError,
    CredentialsError,
    InvalidRequestError,
    NotFoundError,
    PartnerError,
    ThrottledError,
    UnavailableError,
)
from shelfsync.errors import ConfigurationError, DataError, StoppedError, TryAgainError
from shelfsync.platform.jobs import job as job_row

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from partner_api.jobs import Job as PlatformJob
    from shelfsync.context import Context
    from shelfsync.platform.jobs.table import Kind
    from shelfsync.store.leases import Lease

log = logging.getLogger(__name__)

RESENDS = 2
"""How often a request without an answer is repeated at once, identical, before the schedule repeats it."""
RESEND_AFTER_S = 2.0


class Triage(Protocol):
    """Whether a 403 is about one vendor or about the credentials."""

    def served(self) -> None: ...

    def alone(self, context: Context, vendor: str, error: CredentialsError) -> bool: ...


@dataclass(frozen=True)
class Submission:
    """One request of a job, and the consequences of its answer. Each method that writes does so in its own transaction."""

    context: Context
    lease: Lease | None
    """The lease of the process that may write about this job; None: any process may, as a repeat changes nothing."""
    kind: Kind
    job_id: int
    name: str
    """For messages."""
    vendor: str | None
    """The one vendor that it is about; None: several."""

    def send(self) -> PlatformJob:
        """Commits the attempt, then sends the request."""
        raise NotImplementedError

    def accepted(self, connection: Connection) -> None:
        """Adds writes to the transaction that stores the platform's answer."""

    def done_at_once(self, answer: PlatformJob) -> bool:  # noqa: ARG002
        """Whether an answer without a number is a result; then it is stored."""
        return False

    def give_back(self, error: Exception) -> None:
        """The platform did nothing: the request is planned again."""

    def give_up(self, error: PartnerError) -> None:
        """The platform does not accept such a request of this vendor at all."""

    def reject(self, error: InvalidRequestError) -> None:
        """The platform rejected the request as a whole, for what is in it: it is divided, or its only item is rejected."""

    def leave_unconfirmed(self, why: str) -> None:
        """What the platform did with an earlier request is unknown."""


def submit(context: Context, submission: Submission, triage: Triage | None = None) -> None:
    """Sends the request and stores the answer.

    AmbiguousError: no answer came; the job stays as it is. InvalidRequestError: it was rejected as a whole (400). TryAgainError,
    UnavailableError, StoppedError: nothing was done now (429, 5xx, a pause). ConfigurationError: the credentials are rejected (401, 403).
    Another PartnerError: it was given up. DataError: it was accepted and cannot be polled.
    """
    try:
        answer = _with_resends(context, submission)
    except AmbiguousError:
        raise
    except InvalidRequestError as error:
        _unconfirmed_if_left(context, submission, error)
        submission.reject(error)
        raise
    except ThrottledError as error:  # the whole address has to wait: every vendor is concerned
        _give_back(context, submission, error)
        raise TryAgainError(str(error), after_s=error.retry_after_s or 0.0) from error
    except (UnavailableError, TryAgainError, StoppedError) as error:
        _give_back(context, submission, error)
        raise
    except CredentialsError as error:
        _give_back(context, submission, error)
        if triage is None or submission.vendor is None or not triage.alone(context, submission.vendor, error):
            why = "Nothing was sent with these credentials."
            raise ConfigurationError("shelfsync_platform", str(error), why) from error
        _unconfirmed_if_left(context, submission, error)
        submission.give_up(error)
        raise
    except PartnerError as error:
        if isinstance(error, NotFoundError) and submission.vendor is not None:
            error.remedy = (
                f"Name the platform's id of {submission.vendor!r} by SHELFSYNC_ERP__VENDOR_IDS, ask the account manager to enable it,"
                f" or run `shelfsync forget {submission.vendor} --reason TEXT`."
            )
        _unconfirmed_if_left(context, submission, error)
        submission.give_up(error)
        raise
    if triage is not None:
        triage.served()
    _store(context, submission, answer)


def _with_resends(context: Context, submission: Submission) -> PlatformJob:
    for resend in range(RESENDS):
        try:
            return submission.send()
        except AmbiguousError as error:
            log.warning("deliver: %s: %s", submission.name, error)
            context.clock.sleep(RESEND_AFTER_S * (resend + 1))
    return submission.send()


def _give_back(context: Context, submission: Submission, error: Exception) -> None:
    """A job of which the platform may have accepted an earlier request stays as it is, to be repeated."""
    if not _may_have_left(context, submission):
        submission.give_back(error)


def _unconfirmed_if_left(context: Context, submission: Submission, error: Exception) -> None:
    if _may_have_left(context, submission):
        submission.leave_unconfirmed(f"an earlier request was never answered, and then: {error}")


def _may_have_left(context: Context, submission: Submission) -> bool:
    with context.engine.connect() as connection:
        return job_row.may_have_left(connection, submission.job_id)


def _store(context: Context, submission: Submission, answer: PlatformJob) -> None:
    """The number to poll by; an answer without one, or with that of another job, cannot be polled."""
    with context.engine.begin() as connection:
        if submission.lease is not None:
            submission.lease.hold(connection)
        believed = answer.job_id is not None and job_row.answered(
            connection,
            submission.job_id,
            platform_job_id=answer.job_id,
            status=answer.status,
            poll_after_s=context.kinds[submission.kind].pace(context.settings).first_s,
        )
        submission.accepted(connection)
    if believed or submission.done_at_once(answer):
        return
    why = (
        "the platform accepted the request and named no job, so its result cannot be polled"
        if answer.job_id is None
        else f"the platform answered with job {answer.job_id}, which belongs to another request"
    )
    submission.leave_unconfirmed(why)
    raise DataError(f"job {submission.job_id}: {why}; it will be sent again")
