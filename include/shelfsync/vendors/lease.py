"""Leases: one process works on a vendor's jobs. A process that lost its lease and wakes up writes nothing (I5, I6).

Steps take one by `under_lease.holding`, where a lost lease ends as Skip.

A lease is a row with a number from a sequence. Every transaction that matters begins with `Lease.hold`: it locks the row, finds its
own number in it and renews it, or raises. A process that takes a lease over writes a new number, so nothing is left for the earlier
holder to find, on any clock (I17).

A lease may be taken over when its time is up, or when its holder's session is gone: a session lock shows that at once, so that the
vendor of a killed process does not wait. Neither has to be right for the sake of safety: the number alone decides.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import platform
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from shelfsync.errors import StaleRunError
from shelfsync.store.metadata import boolean, metadata, moment, number, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Connection, Engine

log = logging.getLogger(__name__)

lease_number = sa.Sequence("lease_number", metadata=metadata, schema="ledger")
"""Fencing: a later holder has a higher number."""

lease = sa.Table(
    "lease",
    metadata,
    text("vendor", "The vendor whose jobs it is about, or order:ID, the order whose results", primary_key=True),
    number("number", "Fencing: who does not find its own number here writes nothing", nullable=False),
    text("holder", "Machine and process, for people", nullable=False),
    boolean(
        "locked",
        "The holder has the session lock as well: a process that gets it knows that the holder has ended",
        nullable=False,
    ),
    moment("taken_at", "Since when", nullable=False, server_default=sa.text("now()")),
    moment(
        "until_at",
        "Before this no process takes it over from a living session; each write and each request extends it",
        nullable=False,
    ),
    schema="ledger",
    comment="Who works on a vendor's jobs; one whose time is up is free",
)


class LeaseLostError(StaleRunError):
    """Another process has taken over this vendor: the receiver of this error has to stop."""


@dataclass(frozen=True)
class Lease:
    """The right to work on one vendor's jobs."""

    vendor: str
    number: int
    seconds: float
    session: Connection = field(repr=False, compare=False)
    """The session that holds the lease's lock. Its holder may read on it; each statement is a transaction of its own."""

    def hold(self, connection: Connection) -> None:
        """The first statement of a transaction that writes under the lease: renews it and keeps it until the transaction ends.

        LeaseLostError when another process has taken over; nothing of the transaction may then stay.
        """
        mine = {"vendor": self.vendor, "number": self.number, "seconds": self.seconds}
        renewed = connection.execute(_HOLD, mine)
        if renewed.rowcount == 0:
            raise LeaseLostError(
                f"vendor {self.vendor}: another process has taken over meanwhile (lease {self.number} is void);"
                " this one stops and writes nothing"
            )

    def renew(self, engine: Engine) -> None:
        """The same in its own transaction: before a request is sent."""
        with engine.begin() as connection:
            self.hold(connection)


@contextlib.contextmanager
def leased(engine: Engine, vendor: str, seconds: float) -> Iterator[Lease | None]:
    """The lease of this vendor until the block ends; None while another process holds it.

    `seconds` has to be longer than anything that is waited for between two writes; a process that dies gives it back at once.
    """
    key = int.from_bytes(hashlib.sha256(f"vendor:{vendor}".encode()).digest()[:8], "big", signed=True)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as session:
        try:
            alone, number = session.execute(_TAKE, _taking(vendor, key, seconds)).one()
        except BaseException:  # it may have the session lock nevertheless, which ends with it
            session.invalidate()
            raise
        try:
            yield None if number is None else Lease(vendor, int(number), seconds, session)
        finally:
            try:
                if alone or number is not None:
                    session.execute(_GIVE_BACK, {"vendor": vendor, "number": number, "key": key, "alone": alone})
            except DBAPIError as error:  # the server and the session lock are gone; the row expires
                log.warning("lease: vendor %s could not be given back: %s", vendor, type(error.orig).__name__)
                session.invalidate()


_TAKE = sa.text("""
WITH lock AS MATERIALIZED (SELECT pg_try_advisory_lock(:key) AS alone), taken AS (
    INSERT INTO ledger.lease AS held (vendor, number, holder, locked, taken_at, until_at)
    SELECT :vendor, nextval('ledger.lease_number'), :holder, alone, ledger.instant(), ledger.instant() + make_interval(secs => :seconds)
    FROM lock
    ON CONFLICT (vendor) DO UPDATE SET number = excluded.number, holder = excluded.holder, locked = excluded.locked,
        taken_at = excluded.taken_at, until_at = excluded.until_at
    WHERE held.until_at <= ledger.instant() OR (excluded.locked AND held.locked)
    RETURNING number
) SELECT lock.alone, taken.number FROM lock LEFT JOIN taken ON true
""")
"""A lease with a new number, if the present one has expired, or if this session now has its holder's session lock.

PostgreSQL evaluates the conflict's condition on the newest row, not on that of the statement's beginning.
"""
_HOLD = sa.text("""
UPDATE ledger.lease SET until_at = ledger.instant() + make_interval(secs => :seconds)
WHERE vendor = :vendor AND number = CAST(:number AS bigint)
""")
_GIVE_BACK = sa.text("""
WITH mine AS (UPDATE ledger.lease SET until_at = ledger.instant() WHERE vendor = :vendor AND number = CAST(:number AS bigint))
SELECT CASE WHEN :alone THEN pg_advisory_unlock(:key) END
""")
"""Whoever gets the session lock before the row is given back takes over a row of a holder that writes no more."""


def _taking(vendor: str, key: int, seconds: float) -> dict[str, object]:
    return {"vendor": vendor, "key": key, "seconds": seconds, "holder": f"{platform.node()} pid {os.getpid()}"}
