"""A version of an order, and the state of the order, computed from all its versions (interface.md 2.5, 3.1).

Versions arrive by event, by answer, by read-back and by history: late, repeated and in any order. The state is a function of
their set: the version with the latest `sys.updated_at` applies. No version has personal data (`inbox/personal_data.py`).
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from partner_api import json_values
from partner_api.order import Order
from shelfsync.errors import DataError
from shelfsync.inbox.event_body import exceeded_limit
from shelfsync.inbox.personal_data import split_personal_data
from shelfsync.storable import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from partner_api.order import OrderItem

Source = Literal["event", "answer", "read_back", "history"]
RANK = {
    word: rank
    for rank, word in enumerate(
        ("RECEIVED", "ACCEPTED", "READY_FOR_PICKUP", "DISPATCHED", "PICKED_UP", "CANCELLED"), start=1
    )
}
"""How far an order is. It decides between equal instants: after one PUT, the event has READY_FOR_PICKUP and GET DISPATCHED."""
OPEN = frozenset({"RECEIVED", "ACCEPTED"})
"""Still to be picked."""
FULFILLED = frozenset({"READY_FOR_PICKUP", "DISPATCHED", "PICKED_UP"})
_NEVER = dt.datetime.min.replace(tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True)
class Version:
    """An order as one source reported it. `digest`: the hash of the body, which sorts versions that are otherwise equal."""

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
    """An order now. Instants are aware, in UTC. A time is None if no version has it; it is never guessed."""

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
    def fees(self) -> Decimal | None:
        """The part of the total that is not items, less discounts of the whole order; None without both totals."""
        if self.order_total is None or self.sub_total is None:
            return None
        return self.order_total - self.sub_total


def state(versions: Iterable[Version]) -> OrderState:
    """The order now, from at least one version. Neither the order of the versions nor repeats change the result."""
    *earlier, ruling = newest_last(versions)
    known = sorted([*earlier, ruling], key=_key)
    newest_first = [ruling, *reversed(earlier)]
    order = ruling.order
    return OrderState(
        order_id=order.order_id or "",
        vendor=_vendor(newest_first),
        status=ruling.status,
        updated_at=ruling.updated_at,
        transport_type=next((version.order.transport_type for version in newest_first if version.order.transport_type), None),
        order_type=next((version.order.order_type for version in newest_first if version.order.order_type), None),
        order_code=next((version.order.order_code for version in newest_first if version.order.order_code), None),
        external_order_id=next((version.order.external_order_id for version in newest_first if version.order.external_order_id), None),
        promised_for=next((version.order.promised_for for version in newest_first if version.order.promised_for), None),
        accepted_for=next((version.order.accepted_for for version in newest_first if version.order.accepted_for), None),
        placed_at=min((version.order.created_at for version in known if version.order.created_at), default=None),
        fulfilled_at=_first(known, {"READY_FOR_PICKUP"})
        or (_first(known, {"DISPATCHED"}) if order.transport_type == "VENDOR_DELIVERY" else None),
        cancelled_at=_first(known, {"CANCELLED"}),
        sub_total=order.sub_total,
        order_total=order.order_total,
        items=order.items,
        ordered=next((version for version in known if version.updated_at is not None), known[0]).order.items,
        ruling=ruling,
    )  # fmt: skip


def newest_last(versions: Iterable[Version]) -> list[Version]:
    """The versions by their instants; the last one applies."""
    known = sorted(versions, key=_key)
    dated = [version for version in known if version.updated_at is not None]
    undated = [version for version in known if version.updated_at is None]
    if dated and undated and _rank(undated[-1]) > _rank(dated[-1]):  # its time is unknown
        return [*undated[:-1], *dated, undated[-1]]  # but its status is further along
    return known


def _vendor(newest_first: list[Version]) -> str | None:
    """The store. A read-back or the history has precedence over an event: an order must not reach another store."""
    asked = [version for version in newest_first if version.source in {"read_back", "history"}]
    return next((version.order.vendor_id for version in [*asked, *newest_first] if version.order.vendor_id), None)


def _key(version: Version) -> tuple[dt.datetime, int, str, str, str]:
    return (version.updated_at or _NEVER, _rank(version), version.status, version.digest, version.source)


def _rank(version: Version) -> int:
    return RANK.get(version.status, 0)


def _first(versions: Iterable[Version], statuses: set[str]) -> dt.datetime | None:
    """When the order first was in one of these states; None if no version has such a state."""
    return min(
        (version.updated_at for version in versions if version.updated_at and version.status in statuses), default=None
    )


_quoted = json.encoder.encode_basestring_ascii


def parse_version(raw: Mapping[str, Any], source: Source) -> tuple[Version, str, dict[str, Any]]:
    """(version, its body as JSON text, personal part) of a body parsed with exact decimals.

    DataError: the body is no order. The message never quotes it.
    """
    harmless, personal = split_personal_data(raw)
    if (why := exceeded_limit(harmless)) is not None:
        raise DataError(f"an order cannot be stored: its {why}. Ask the platform's support about this order.")
    text = as_json(storable(harmless))
    return load_version(text, source), text, personal


def load_version(text: str, source: Source) -> Version:
    """A version from its stored text. DataError: it has no order_id."""
    order = Order.read(json_values.mapping(json_values.json_or_none(text.encode())))
    if order.order_id is None:
        raise DataError("an order event has no order_id. It stays in the inbox and is not applied.")
    return Version(source, hashlib.sha256(text.encode()).hexdigest(), order)


def as_json(value: Any) -> str:
    """JSON with exact decimals and sorted keys: equal values give equal text."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, dict):
        return "{" + ",".join([f"{_quoted(str(name))}:{as_json(value[name])}" for name in sorted(value, key=str)]) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join([as_json(entry) for entry in value]) + "]"
    return format(value, "f") if isinstance(value, Decimal) else json.dumps(value)
