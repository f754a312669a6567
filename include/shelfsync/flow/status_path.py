"""Whether the platform has a status call for catalog jobs: found out by trying, and remembered for a while.

The interface promises none, so that a platform without it is a normal thing. One 404 may be about one job; where the call has
worked before, that is what it is about.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.ledger.instant import instant
from shelfsync.ledger.tables import platform_check

if TYPE_CHECKING:
    from shelfsync.flow.house import Parts

ABSENT_S = 3600.0
"""So long nobody asks again after a 404 at a call that had not worked before."""
PRESENT_S = 30 * 86_400.0
"""So long a call that has worked is taken to be there."""


def is_absent(parts: Parts) -> bool:
    """True while a 404 is remembered: asking would only spend a request."""
    return _age_s(parts, "absent") < ABSENT_S


def found_absent(parts: Parts) -> None:
    """A status call was answered with 404."""
    if _age_s(parts, "present") >= PRESENT_S:
        _note(parts, "absent")


def found_present(parts: Parts) -> None:
    """A status call was answered; noted now and then, for it happens all day."""
    if _age_s(parts, "present") >= PRESENT_S / 30:
        _note(parts, "present")


def _age_s(parts: Parts, what: str) -> float:
    age = sa.extract("epoch", instant() - platform_check.c.checked_at)
    with parts.engine.connect() as connection:
        found = connection.execute(sa.select(age).where(platform_check.c.fingerprint == _name(parts, what))).scalar()
    return float("inf") if found is None else float(found)


def _note(parts: Parts, what: str) -> None:
    now = {"checked_at": instant()}
    statement = insert(platform_check).values(fingerprint=_name(parts, what), **now)
    with parts.engine.begin() as connection:
        connection.execute(statement.on_conflict_do_update(index_elements=[platform_check.c.fingerprint], set_=now))


def _name(parts: Parts, what: str) -> str:
    platform = parts.settings.platform
    told = ["job status", what, platform.base_url or "", platform.chain or "", platform.job_status_path]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()
