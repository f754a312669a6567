"""What an order is, out of everything that was ever heard of it (interface.md 2.5, 3.1).

Versions come by event, by answer and by history, late, twice and in any order. The state is a function of their set: the version with the
latest `sys.updated_at` rules, whatever came when. Nothing here knows a customer: bodies have been parted before (`personal.py`).
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from partner_api.models.order import Order, OrderItem

Source = Literal["event", "answer", "read_back", "history"]
RANK = {
    word: rank
    for rank, word in enumerate(
        ("RECEIVED", "ACCEPTED", "READY_FOR_PICKUP", "DISPATCHED", "PICKED_UP", "CANCELLED"), start=1
    )
}
"""How far an order is. Decides only where instants do not: one PUT is told as READY_FOR_PICKUP by its event and as DISPATCHED by GET."""
OPEN = frozenset({"RECEIVED", "ACCEPTED"})
"""Still to be picked."""
FULFILLED = frozenset({"READY_FOR_PICKUP", "DISPATCHED", "PICKED_UP"})
_NEVER = dt.datetime.min.replace(tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True)
class Version:
    """An order as it was told once. `digest`: of the body, so that two tellings that differ in nothing else still have an order."""

    source: Source
    digest: str
    order: Order = field(repr=False)

    @property
    def status(self) -> str:
        return self.order.status or ""

    @property
    def updated_at(self) -> dt.datetime | None:
        return self.order.updated_at


@dataclass(frozen=True, slots=True)
class OrderState:
    """An order now. Instants are aware, in UTC; a time is None where nobody told it, never guessed."""

    order_id: str
    vendor: str | None
    status: str
    updated_at: dt.datetime | None
    transport_type: str | None
    order_type: str | None
    order_code: str | None
    external_order_id: str | None
    promised_for: dt.datetime | None
    accepted_for: dt.datetime | None
    placed_at: dt.datetime | None
    fulfilled_at: dt.datetime | None
    cancelled_at: dt.datetime | None
    sub_total: Decimal | None
    order_total: Decimal | None
    items: tuple[OrderItem, ...]
    ordered: tuple[OrderItem, ...]
    """As the customer ordered them: the items of the earliest version."""
    ruling: Version = field(repr=False)

    @property
    def is_open(self) -> bool:
        return self.status in OPEN

    @property
    def is_fulfilled(self) -> bool:
        return self.status in FULFILLED

    @property
    def fees(self) -> Decimal | None:
        """What the total holds besides the items, discounts of the whole order taken off; None where totals are not told."""
        if self.order_total is None or self.sub_total is None:
            return None
        return self.order_total - self.sub_total


def state(versions: Iterable[Version]) -> OrderState:
    """The order now; at least one version, all of one order. The same for the same versions in any order, however often each comes."""
    *earlier, ruling = newest_last(versions)
    known = sorted([*earlier, ruling], key=_key)
    newest_first = [ruling, *reversed(earlier)]
    order = ruling.order
    return OrderState(
        order_id=order.order_id or "",
        vendor=_vendor(newest_first),
        status=ruling.status,
        updated_at=ruling.updated_at,
        transport_type=next((one.order.transport_type for one in newest_first if one.order.transport_type), None),
        order_type=next((one.order.order_type for one in newest_first if one.order.order_type), None),
        order_code=next((one.order.order_code for one in newest_first if one.order.order_code), None),
        external_order_id=next((one.order.external_order_id for one in newest_first if one.order.external_order_id), None),
        promised_for=next((one.order.promised_for for one in newest_first if one.order.promised_for), None),
        accepted_for=next((one.order.accepted_for for one in newest_first if one.order.accepted_for), None),
        placed_at=min((one.order.created_at for one in known if one.order.created_at), default=None),
        fulfilled_at=_first(known, {"READY_FOR_PICKUP"})
        or (_first(known, {"DISPATCHED"}) if order.transport_type == "VENDOR_DELIVERY" else None),
        cancelled_at=_first(known, {"CANCELLED"}),
        sub_total=order.sub_total,
        order_total=order.order_total,
        items=order.items,
        ordered=next((one for one in known if one.updated_at is not None), known[0]).order.items,
        ruling=ruling,
    )  # fmt: skip


def newest_last(versions: Iterable[Version]) -> list[Version]:
    """By the instants of the versions; the last one rules."""
    known = sorted(versions, key=_key)
    dated = [one for one in known if one.updated_at is not None]
    undated = [one for one in known if one.updated_at is None]
    if dated and undated and _rank(undated[-1]) > _rank(dated[-1]):  # nothing says when it was
        return [*undated[:-1], *dated, undated[-1]]  # that it went further is all there is to go by
    return known


def _vendor(newest_first: list[Version]) -> str | None:
    """What the platform answers when it is asked goes before what an event says: an order must not reach another store."""
    asked = [one for one in newest_first if one.source in {"read_back", "history"}]
    return next((one.order.vendor_id for one in [*asked, *newest_first] if one.order.vendor_id), None)


def _key(version: Version) -> tuple[dt.datetime, int, str, str, str]:
    return (version.updated_at or _NEVER, _rank(version), version.status, version.digest, version.source)


def _rank(version: Version) -> int:
    return RANK.get(version.status, 0)


def _first(versions: Iterable[Version], statuses: set[str]) -> dt.datetime | None:
    """When the order first was in one of these states. A history that shows it later says nothing of when it began."""
    return min((one.updated_at for one in versions if one.updated_at and one.status in statuses), default=None)
