"""Whether the platform has a status call, by the kind of job: found out by polling, and stored for a while. A 404 may mean that there is none."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.platform.credentials_check import platform_check
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from partner_api.errors import PartnerError
    from shelfsync.context import Context
    from shelfsync.platform.jobs.table import Kind

ABSENT_S = 3600.0
"""How long no job is polled after a 404, 401 or 403 from a call that had not worked before."""
PRESENT_S = 30 * 86_400.0
"""How long a call that has worked counts as available."""
FORBIDDEN = (401, 403)


@dataclass(frozen=True)
class StatusCall:
    """What polling has found out about the status call of a kind: seconds since it worked, and since it was missing."""

    present_s: float
    absent_s: float

    @property
    def absent(self) -> bool:
        """True while the ledger records that there is no such call: a poll would waste a request."""
        return self.absent_s < ABSENT_S

    @property
    def worked(self) -> bool:
        return self.present_s < PRESENT_S


StatusCalls: TypeAlias = dict["Kind", StatusCall]
"""What several polls in a row know of the status calls, so that not each reads it: empty after any poll that got no answer."""


def status_call(context: Context, of: Kind) -> StatusCall:
    """The records of both; infinite ages if the call was never tried."""
    age = sa.extract("epoch", instant() - platform_check.c.checked_at)
    names = [_name(context, what, of) for what in ("present", "absent")]
    statement = sa.select(platform_check.c.fingerprint, age).where(platform_check.c.fingerprint.in_(names))
    with context.engine.connect() as connection:
        found = {row[0]: float(row[1]) for row in connection.execute(statement)}
    return StatusCall(*(found.get(name, math.inf) for name in names))


def is_forbidden(context: Context, error: PartnerError, call: StatusCall, *, of: Kind, overdue: bool) -> bool:
    """Whether an error means that the call is forbidden for every job; if so, records it.

    The platform gave the job's number to the same credentials, so they may poll it. If the call has worked before, a 401 or 403 has
    another reason and is an error. If the job is `overdue`, no job is polled for a while all the same: the last poll of each job would
    cost a token (401) or pause the whole installation (a 403 of the edge). An error of the token call does not concern this call.
    """
    if error.operation == "token" or error.status not in FORBIDDEN:
        return False
    if overdue or not call.worked:
        found_absent(context, of=of)
    return not call.worked


def found_absent(context: Context, *, of: Kind) -> None:
    """Records that the platform has no such call."""
    with context.engine.begin() as connection:
        _note(context, connection, "absent", of)


def found_present(context: Context, connection: sa.Connection, *, of: Kind) -> None:
    """Records that the platform has the call."""
    _note(context, connection, "present", of)


def _note(context: Context, connection: sa.Connection, what: str, of: Kind) -> None:
    now = {"checked_at": instant()}
    statement = insert(platform_check).values(fingerprint=_name(context, what, of), **now)
    connection.execute(statement.on_conflict_do_update(index_elements=[platform_check.c.fingerprint], set_=now))


def _name(context: Context, what: str, of: Kind) -> str:
    platform = context.settings.platform
    parts = [f"{of} status", what, platform.base_url or "", platform.chain or "", platform.job_status_path]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
