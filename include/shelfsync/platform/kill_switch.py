"""The kill switch: an operator stops everything, a chain or a vendor, and resumes it. Every change is recorded. The gate in this file checks
the switch last, when the slot of a request has come.

Who sends anything that changes the platform calls `stopped` first, which returns who stopped it, when and why.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import distinct_on

from shelfsync import display
from shelfsync.chain_names_in_text import own_names
from shelfsync.chosen_chain import chain_in_use
from shelfsync.errors import StoppedError
from shelfsync.platform.gate import CHANGES, GateBehind
from shelfsync.store.metadata import boolean, identity, instant, line, metadata, moment, text

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Sequence

    from sqlalchemy.engine import Connection, Engine

    from partner_api.session import Gate

Scope = Literal["all", "chain", "vendor"]

switch = sa.Table(
    "switch",
    metadata,
    identity("switch_id", "Order in which it was turned"),
    text("scope", "all, chain or vendor", nullable=False),
    text("name", "The chain or the vendor; empty where scope is all", nullable=False, server_default=""),
    boolean("stopped", "True: nothing is sent from here on; false: it goes on", nullable=False),
    line("why", "The person's reason", nullable=False),
    text("who", "The person", nullable=False),
    moment("turned_at", "When", nullable=False),
    sa.CheckConstraint("scope IN ('all', 'chain', 'vendor')", name="scope"),
    sa.Index("ix_switch_scope_name", "scope", "name", "switch_id"),
    schema="ledger",
    comment="One row a turn of a kill switch; of a scope and name the newest row counts, nothing is ever changed or removed",
)


_WHOSE = {"chain": "--whole-chain", "all": "--all"}
"""How a command names these scopes."""


@dataclass(frozen=True)
class Stop:
    """A switch that is off: shelfsync sends no change of the platform within its scope."""

    scope: Scope
    name: str
    why: str
    who: str
    turned_at: dt.datetime

    @property
    def what(self) -> str:
        """The stopped scope, as part of a sentence."""
        return "everything" if self.scope == "all" else f"{self.scope} {self.name}"

    @property
    def remedy(self) -> str:
        """The command that ends it."""
        return f"shelfsync resume {_WHOSE.get(self.scope, self.name)}"

    def __str__(self) -> str:
        return own_names(f"{self._paused(self.what)} (`{self.remedy}`)", chain_in_use())

    @property
    def for_people(self) -> str:
        """The same without the command, and with the word for a store that has no part in the platform's interface."""
        return self._paused(f"store {self.name}" if self.scope == "vendor" else self.what)

    def _paused(self, what: str) -> str:
        return (
            f"{what} is paused by {self.who} since {display.instant(self.turned_at)}: {self.why}"
            "; nothing but orders is sent until it is resumed"
        )


def turn(connection: Connection, scope: Scope, name: str, *, stopped: bool, why: str, who: str) -> None:
    """Turns a switch off or on, and records the change with its person and reason."""
    values = {"scope": scope, "name": name, "stopped": stopped, "why": why, "who": who, "turned_at": instant()}
    connection.execute(switch.insert().values(values))


def stopped(connection: Connection, vendor: str | None, *, chain: str | None = None) -> Stop | None:
    """Why nothing may be sent to this vendor, the widest reason first; None: it may be sent.

    If `vendor` is None, the call is for the whole chain. Without `chain`, the switch of any chain counts, because a ledger serves
    one chain.
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
    """The first of these that concerns any of the vendors; `*` means every vendor of the chain. Without names: a call for the whole chain."""
    names = tuple(vendors)
    stops_of_names = (of_vendor(off, name, chain=chain) for name in (None, *names))
    stop = next((stop for stop in stops_of_names if stop is not None), None)
    return stop or next((switch for switch in off if "*" in names and switch.scope == "vendor"), None)


def lines(connection: Connection) -> list[str]:
    """One line for each switch that is off: who stopped what and why."""
    return [str(stop) for stop in stops(connection)]


def stops(connection: Connection) -> list[Stop]:
    """Every switch that is off now, the widest first."""
    return [Stop(row.scope, row.name, row.why, row.who, row.turned_at) for row in connection.execute(_off())]


@functools.cache
def _off() -> sa.Select[Any]:
    """Built once a process: every request that changes something asks."""
    newest = sa.select(switch).ext(distinct_on(switch.c.scope, switch.c.name))
    turned = newest.order_by(switch.c.scope, switch.c.name, switch.c.switch_id.desc()).subquery()
    return sa.select(turned).where(turned.c.stopped).order_by(turned.c.scope, turned.c.name)


def history(connection: Connection, *, turns: int = 50) -> list[dict[str, Any]]:
    """The last changes of all switches, newest first."""
    rows = connection.execute(sa.select(switch).order_by(switch.c.switch_id.desc()).limit(turns)).mappings()
    return [dict(row) for row in rows]


class SwitchedGate(GateBehind):
    """Any gate, and behind it the switch: `admit` raises StoppedError for a change that an operator has stopped."""

    def __init__(self, inner: Gate, engine: Engine, chain: str) -> None:
        super().__init__(inner)
        self._engine = engine
        self._chain = chain

    def admit(self, operation: str, priority: str, vendors: tuple[str, ...]) -> None:
        """Returns when the request may be sent."""
        self._inner.admit(operation, priority, vendors)
        if operation not in CHANGES:
            return
        with self._engine.connect() as connection:
            stop = of_vendors(stops(connection), vendors, chain=self._chain)
        if stop is not None:
            self._inner.done(operation, priority, used=False)
            raise StoppedError(str(stop))
