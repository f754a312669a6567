"""Submits the request of a job and returns what happened to it, for every kind. What follows is decided by the kind's own `match`.

A response that was lost is followed by the identical request, because a repeat is harmless. Whether the platform accepted a request that
was never answered is unknown; no later response shows it (I7).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from partner_api.errors import (
    AmbiguousError,
    CredentialsError,
    InvalidRequestError,
    NotFoundError,
    PartnerError,
    ThrottledError,
    UnavailableError,
)
from shelfsync.back_off import back_off_s
from shelfsync.errors import ConfigurationError, StoppedError, TryAgainError
from shelfsync.platform.jobs import job as job_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from partner_api.jobs import Job as PlatformJob
    from shelfsync.context import Context

log = logging.getLogger(__name__)

RESENDS = 2
"""How often a request without an answer is repeated at once, identical, before the schedule repeats it."""
RESEND_AFTER_S = 2.0


@dataclass(frozen=True)
class Request:
    """One request of a job. The job's row is committed."""

    job_id: int
    name: str
    """For messages."""
    vendor: str | None
    """The one vendor that it is about; None: several."""
    send: Callable[[bool], PlatformJob]
    """Sends the request, each time the same, with its attempt committed before. True: again, because no answer came to the one before.

    Else the attempt may be committed with the job's row.
    """


@dataclass(frozen=True)
class Accepted:
    """The platform accepted the request: `answer` names the job to poll, or is the result."""

    answer: PlatformJob


@dataclass(frozen=True)
class GiveBack:
    """The platform did nothing: the request is planned again, and `error` is raised."""

    why: str
    error: Exception


@dataclass(frozen=True)
class Unconfirmed:
    """The platform may have accepted this request, or an earlier one of this job. The job stays as it is, to be repeated."""

    error: Exception


@dataclass(frozen=True)
class GiveUp:
    """The platform does not accept such a request of this vendor at all."""

    error: PartnerError
    earlier: str | None
    """Why it is unknown what the platform did with an earlier request of this job; None: there was none."""


@dataclass(frozen=True)
class Rejected:
    """The platform rejected the request as a whole, for what is in it: it is divided, or its only item is rejected."""

    error: InvalidRequestError
    earlier: str | None
    """As above."""


Submitted: TypeAlias = Accepted | GiveBack | Unconfirmed | GiveUp | Rejected


class Triage(Protocol):
    """Whether a 403 is about one vendor or about the credentials."""

    def served(self) -> None: ...

    def alone(self, context: Context, vendor: str, error: CredentialsError) -> bool: ...


def submit(context: Context, request: Request, triage: Triage | None = None) -> Submitted:
    """Sends the request. What happened is not in the ledger yet, except the attempt: a process that dies here leaves a lost request."""
    try:
        answer = _with_resends(context, request)
    except (TryAgainError, StoppedError) as error:
        return _nothing_done(context, request, str(error), error)
    except PartnerError as error:
        return _not_accepted(context, request, error, triage)
    if triage is not None:
        triage.served()
    return Accepted(answer)


def _with_resends(context: Context, request: Request) -> PlatformJob:
    for resend in range(RESENDS):
        try:
            return request.send(resend > 0)
        except AmbiguousError as error:
            log.warning("deliver: %s: %s", request.name, error)
            context.clock.sleep(back_off_s(resend + 1, RESEND_AFTER_S, RESEND_AFTER_S * RESENDS))
    return request.send(True)


def _not_accepted(
    context: Context, request: Request, error: PartnerError, triage: Triage | None
) -> GiveBack | Unconfirmed | GiveUp | Rejected:
    if isinstance(error, AmbiguousError):
        return Unconfirmed(error)
    of_every_vendor = _of_every_vendor(context, request, error, triage)
    if of_every_vendor is not None:
        of_every_vendor.__cause__ = error
        return _nothing_done(context, request, str(error), of_every_vendor)
    if isinstance(error, UnavailableError):
        return _nothing_done(context, request, str(error), error)
    if isinstance(error, NotFoundError) and request.vendor is not None:
        error.remedy = (
            f"Name the platform's id of {request.vendor!r} by SHELFSYNC_ERP__VENDOR_IDS, ask the account manager to enable it,"
            f" or run `shelfsync forget {request.vendor} --reason TEXT`."
        )
    left = _may_have_left(context, request)
    earlier = f"an earlier request was never answered, and then: {error}" if left else None
    return Rejected(error, earlier) if isinstance(error, InvalidRequestError) else GiveUp(error, earlier)


def _of_every_vendor(
    context: Context, request: Request, error: PartnerError, triage: Triage | None
) -> Exception | None:
    """The error to raise if the whole address has to wait (429), or the credentials are wrong (401, or a 403 not of this vendor alone)."""
    if isinstance(error, ThrottledError):
        return TryAgainError(str(error), after_s=error.retry_after_s or 0.0)
    if not isinstance(error, CredentialsError):
        return None
    if triage is not None and request.vendor is not None and triage.alone(context, request.vendor, error):
        return None
    return ConfigurationError("shelfsync_platform", str(error), "Nothing was sent with these credentials.")


def _nothing_done(context: Context, request: Request, why: str, error: Exception) -> GiveBack | Unconfirmed:
    return Unconfirmed(error) if _may_have_left(context, request) else GiveBack(why, error)


def _may_have_left(context: Context, request: Request) -> bool:
    with context.engine.connect() as connection:
        return job_row.may_have_left(connection, request.job_id)
