"""The kill switch: a person stops everything, a chain or a vendor, and lets it go on. Every turn of it is kept.

Who sends anything that changes the platform asks `stopped` first, and gets told who stopped it, when and why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import distinct_on

from shelfsync.ledger.instant import instant
from shelfsync.ledger.metadata import metadata

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Sequence

    from sqlalchemy.engine import Connection

Scope = Literal["all", "chain", "vendor"]

switch = sa.Table(
    "switch",
    metadata,
    sa.Column(
        "switch_id", sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Order in which it was turned"
    ),
    sa.Column("scope", sa.Text, nullable=False, comment="all, chain or vendor"),
    sa.Column(
        "name", sa.Text, nullable=False, server_default="", comment="The chain or the vendor; empty where scope is all"
    ),
    sa.Column("stopped", sa.Boolean, nullable=False, comment="True: nothing is sent from here on; false: it goes on"),
    sa.Column("why", sa.Text, nullable=False, comment="The person's reason"),
    sa.Column("who", sa.Text, nullable=False, comment="The person"),
    sa.Column("turned_at", sa.DateTime(timezone=True), nullable=False, comment="When"),
    sa.CheckConstraint("scope IN ('all', 'chain', 'vendor')", name="scope"),
    sa.Index("ix_switch_scope_name", "scope", "name", "switch_id"),
    schema="ledger",
    comment="One row a turn of a kill switch; of a scope and name the newest row counts, nothing is ever changed or removed",
)


@dataclass(frozen=True)
class Stop:
    """A switch that is turned off: nothing that changes the platform is sent to what it names."""

    scope: Scope
    name: str
    why: str
    who: str
    turned_at: dt.datetime

    @property
    def what(self) -> str:
        """What is stopped, for a sentence."""
        return "everything" if self.scope == "all" else f"{self.scope} {self.name}"

    @property
    def remedy(self) -> str:
        """The command that ends it."""
        return f"shelfsync resume {self.name if self.scope == 'vendor' else f'--{self.scope}'}"

    def __str__(self) -> str:
        return (
            f"{self.what} is paused by {self.who} since {self.turned_at:%Y-%m-%d %H:%M:%S %Z}: {self.why}"
            f"; nothing but orders is sent until it is resumed (`{self.remedy}`)"
        )


def turn(connection: Connection, scope: Scope, name: str, *, stopped: bool, why: str, who: str) -> None:
    """Turns a switch off or on again; the turn is kept with its person and reason."""
    values = {"scope": scope, "name": name, "stopped": stopped, "why": why, "who": who, "turned_at": instant()}
    connection.execute(switch.insert().values(values))


def stopped(connection: Connection, vendor: str | None, *, chain: str | None = None) -> Stop | None:
    """Why nothing may be sent to this vendor, the widest reason first; None: go on.

    `vendor` None asks for what is no vendor's (a call for the whole chain). Without `chain` any chain's switch counts: a ledger
    serves one.
    """
    return of_vendor(stops(connection), vendor, chain=chain)


def of_vendor(off: Iterable[Stop], vendor: str | None, *, chain: str | None = None) -> Stop | None:
    """The first of these that concerns the vendor."""
    for stop in off:
        if (
            stop.scope == "all"
            or (stop.scope == "chain" and (chain is None or stop.name == chain))
            or (stop.scope == "vendor" and stop.name == vendor)
        ):
            return stop
    return None


def of_vendors(off: Sequence[Stop], vendors: Iterable[str], *, chain: str | None = None) -> Stop | None:
    """The first of these that concerns any of the vendors; `*` among them is all of the chain's. None named: what is no vendor's."""
    names = tuple(vendors)
    found = (of_vendor(off, name, chain=chain) for name in (None, *names))
    stop = next((one for one in found if one is not None), None)
    return stop or next((one for one in off if "*" in names and one.scope == "vendor"), None)


def stops(connection: Connection) -> list[Stop]:
    """Every switch that is off now, the widest first."""
    newest = sa.select(switch).ext(distinct_on(switch.c.scope, switch.c.name))
    newest = newest.order_by(switch.c.scope, switch.c.name, switch.c.switch_id.desc())
    turned = newest.subquery()
    rows = connection.execute(sa.select(turned).where(turned.c.stopped).order_by(turned.c.scope, turned.c.name))
    return [Stop(row.scope, row.name, row.why, row.who, row.turned_at) for row in rows]


def history(connection: Connection, *, turns: int = 50) -> list[dict[str, Any]]:
    """The last turns of all switches, newest first."""
    rows = connection.execute(sa.select(switch).order_by(switch.c.switch_id.desc()).limit(turns)).mappings()
    return [dict(row) for row in rows]
