"""Whether the platform has a status call: found out by trying, and remembered for a while.

The interface promises none for catalog jobs and shows no path for promotions, so that a platform without it is a normal thing. It may
say so by a 404; a gateway in front of it says it by a 401 or 403 as well, by a page or without a word. One 404 may be about one job,
and a refusal may be about us; where the call has worked before, that is what they are about.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.ledger.instant import instant
from shelfsync.ledger.tables import platform_check

if TYPE_CHECKING:
    from partner_api.errors import PartnerError
    from shelfsync.flow.house import Parts

Of = Literal["job", "export", "promotion"]
"""Whose status: a platform may tell that of one kind and not of another."""

ABSENT_S = 3600.0
"""So long nobody asks again after a 404 or a refusal at a call that had not worked before."""
PRESENT_S = 30 * 86_400.0
"""So long a call that has worked is taken to be there."""


REFUSALS = (401, 403)


def is_absent(parts: Parts, *, of: Of = "job") -> bool:
    """True while it is remembered that there is none: asking would only spend a request."""
    return _age_s(parts, "absent", of) < ABSENT_S


def found_absent(parts: Parts) -> None:
    """A job's status call was answered with 404."""
    if _age_s(parts, "present", "job") >= PRESENT_S:
        _note(parts, "absent", "job")


def found_present(parts: Parts, *, of: Of = "job") -> None:
    """A status call was answered; noted now and then, for it happens all day."""
    if _age_s(parts, "present", of) >= PRESENT_S / 30:
        _note(parts, "present", of)


def refuses(parts: Parts, error: PartnerError, *, of: Of = "job", overdue: bool = False) -> bool:
    """Whether an error says that the call is refused to everybody, as where there is none; then that is remembered.

    Who asks about a job has its number, which the platform gave to the same credentials. A call that has worked before is refused
    for another reason, which is an error; `overdue`, it is not asked again for a while all the same: every job's last question would
    cost a token (401) or pause the whole installation (a 403 of the edge). A token that is not given says nothing of the call.
    """
    if error.operation == "token" or error.status not in REFUSALS:
        return False
    worked = _age_s(parts, "present", of) < PRESENT_S
    if overdue or not worked:
        _note(parts, "absent", of)
    return not worked


def _age_s(parts: Parts, what: str, of: Of) -> float:
    age = sa.extract("epoch", instant() - platform_check.c.checked_at)
    with parts.engine.connect() as connection:
        found = connection.execute(
            sa.select(age).where(platform_check.c.fingerprint == _name(parts, what, of))
        ).scalar()
    return float("inf") if found is None else float(found)


def _note(parts: Parts, what: str, of: Of) -> None:
    now = {"checked_at": instant()}
    statement = insert(platform_check).values(fingerprint=_name(parts, what, of), **now)
    with parts.engine.begin() as connection:
        connection.execute(statement.on_conflict_do_update(index_elements=[platform_check.c.fingerprint], set_=now))


def _name(parts: Parts, what: str, of: Of) -> str:
    platform = parts.settings.platform
    told = [f"{of} status", what, platform.base_url or "", platform.chain or "", platform.job_status_path]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()
