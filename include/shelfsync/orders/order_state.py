"""A version of an order, and the state of the order, computed from all its versions (interface.md 2.5, 3.1).

Versions arrive by event, by answer, by read-back and by history: late, repeated and in any order. The state is a function of
their set. The status that is furthest along applies, whatever its date, so an end stays an end. Items, totals and all other values
come from the latest version, whatever its status. A time counts only near its receipt (`Version.believed`); otherwise the
receipt counts, so a wrong date holds no order. No version has personal data (`inbox/personal_data.py`).
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
    from collections.abc import Iterable, Mapping, Sequence

    from partner_api.order import OrderItem

Source = Literal["event", "answer", "read_back", "history"]
RANK = {
    word: rank
    for rank, word in enumerate(
        ("RECEIVED", "ACCEPTED", "READY_FOR_PICKUP", "DISPATCHED", "PICKED_UP", "DELIVERED", "CANCELLED"), start=1
    )
}
"""How far an order is; it never goes back. After one PUT, the event has READY_FOR_PICKUP and GET DISPATCHED."""
ENDED = frozenset({"PICKED_UP", "DELIVERED", "CANCELLED"})
"""No status of the picking follows. If an order also has a cancellation, it is cancelled."""
OPEN = frozenset({"RECEIVED", "ACCEPTED"})
"""Still to be picked."""
FULFILLED = frozenset({"READY_FOR_PICKUP", "DISPATCHED", "PICKED_UP", "DELIVERED"})
AHEAD = dt.timedelta(minutes=10)
"""How far the platform's clock may be ahead of the database's."""
BEHIND = dt.timedelta(days=61)
"""The platform reports no order that is older than 60 days."""
_AHEAD = {"updated_at": AHEAD, "created_at": AHEAD, "promised_for": BEHIND, "accepted_for": BEHIND}
"""Times of an order -> how long after its receipt they may be. What is promised is ahead; it is not believed for ever."""


@dataclass(frozen=True, slots=True)
class Version:
    """An order as one source reported it. `digest`: the hash of the body, which sorts versions that are otherwise equal.

    `received_at`: when shelfsync first received it from this source, by the database's clock.
    """

    source: Source
    digest: str
    order: Order = field(repr=False)
    received_at: dt.datetime

    @property
    def status(self) -> str:
        return self.order.status or ""

    def believed(self, name: str) -> dt.datetime | None:
        """This time of the order if it is near the receipt; otherwise None, as if it were missing."""
        instant: dt.datetime | None = getattr(self.order, name)
        if instant is None or not -BEHIND <= instant - self.received_at <= _AHEAD[name]:
            return None
        return instant

    @property
    def at(self) -> dt.datetime:
        """How old it is: the platform's instant if it is believed, otherwise its receipt."""
        return self.believed("updated_at") or self.received_at

    @property
    def not_believed(self) -> dict[str, dt.datetime | None]:
        """Times that the platform reported and that are not used; None: it is no time."""
        system = json_values.mapping(self.order.raw.get("sys"))
        return {
            name: getattr(self.order, name)
            for name in _AHEAD
            if self.believed(name) is None
            and (json_values.text(system, name) or json_values.text(self.order.raw, name)) is not None
        }


@dataclass(frozen=True, slots=True)
class OrderState:
    """An order now. Instants are aware, in UTC. A time is None if no version has it, or none is believed; it is never guessed."""

    order_id: str
    vendor: str | None
    status: str
    updated_at: dt.datetime
    """The platform's instant of the latest version; if it has none that is believed: its receipt."""
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
    """As the customer ordered them: the items of the version that is least far along, the earliest of these."""
    cancellation: Mapping[str, Any]
    """Who cancelled it and why; empty if no cancellation says so."""
    has_odd_time: bool
    """Whether a version has a time that is not believed."""

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
    known = oldest_first(versions)
    newest_first = known[::-1]
    status = _status(known)
    with_items = [version for version in known if version.order.items] or known
    content = with_items[-1].order  # a version without items reports a status alone
    transport_type = next(
        (version.order.transport_type for version in newest_first if version.order.transport_type), None
    )
    return OrderState(
        order_id=content.order_id or "",
        vendor=_vendor(newest_first),
        status=status,
        updated_at=known[-1].at,
        transport_type=transport_type,
        order_type=next((version.order.order_type for version in newest_first if version.order.order_type), None),
        order_code=next((version.order.order_code for version in newest_first if version.order.order_code), None),
        external_order_id=next((version.order.external_order_id for version in newest_first if version.order.external_order_id), None),
        promised_for=_last(newest_first, "promised_for"),
        accepted_for=_last(newest_first, "accepted_for"),
        placed_at=min((at for version in known if (at := version.believed("created_at"))), default=None),
        fulfilled_at=_first(known, "READY_FOR_PICKUP")
        or (_first(known, "DISPATCHED") if transport_type == "VENDOR_DELIVERY" else None),
        cancelled_at=_first(known, "CANCELLED"),
        sub_total=content.sub_total,
        order_total=content.order_total,
        items=content.items,
        ordered=min(with_items, key=_progress).order.items,
        cancellation=next((found for version in newest_first if version.status == status == "CANCELLED" and (found := _cancellation(version))), {}),
        has_odd_time=any(version.not_believed for version in known),
    )  # fmt: skip


def oldest_first(versions: Iterable[Version]) -> list[Version]:
    """The versions by age. Of equal age, the version that is further along, or received later, is later."""
    return sorted(versions, key=_age)


def _age(version: Version) -> tuple[dt.datetime, int, dt.datetime, str, str, str]:
    return (version.at, _rank(version), version.received_at, version.status, version.digest, version.source)


def _status(oldest_first: Sequence[Version]) -> str:
    """The status that is furthest along.

    A status that is not in the interface has no rank, and its meaning is not known. So it opens, closes and ends no order: it applies
    if no version has another one, and then the latest.
    """
    newest_first = [version for version in oldest_first if version.status][::-1]
    return max(newest_first, key=_rank).status if newest_first else ""


def _vendor(newest_first: list[Version]) -> str | None:
    """The store. A read-back or the history has precedence over an event: an order must not reach another store."""
    asked = [version for version in newest_first if version.source in {"read_back", "history"}]
    return next((version.order.vendor_id for version in [*asked, *newest_first] if version.order.vendor_id), None)


def _progress(version: Version) -> tuple[int, tuple[Any, ...]]:
    """What is least far along first, and what has no rank last."""
    return (_rank(version) or len(RANK) + 1, _age(version))


def _rank(version: Version) -> int:
    return RANK.get(version.status, 0)


def _last(newest_first: Iterable[Version], name: str) -> dt.datetime | None:
    """The latest value of this time that is believed."""
    return next((at for version in newest_first if (at := version.believed(name))), None)


def _first(versions: Iterable[Version], status: str) -> dt.datetime | None:
    """When the order first had this status; None if no version has it with a time."""
    return min(
        (at for version in versions if version.status == status and (at := version.believed("updated_at"))),
        default=None,
    )


def _cancellation(version: Version) -> Mapping[str, Any]:
    return json_values.mapping(version.order.raw.get("cancellation"))


_quoted = json.encoder.encode_basestring_ascii


def parse_version(
    raw: Mapping[str, Any], source: Source, received_at: dt.datetime
) -> tuple[Version, str, dict[str, Any]]:
    """(version, its body as JSON text, personal part) of a body parsed with exact decimals.

    The order_id is in lower case: a UUID in capitals is the same order. DataError: the body is no order. The message never quotes it.
    """
    harmless, personal = split_personal_data(raw)
    if isinstance(order_id := harmless.get("order_id"), str):
        harmless["order_id"] = order_id.lower()
    if (why := exceeded_limit(harmless)) is not None:
        raise DataError(f"an order cannot be stored: its {why}. Ask the platform's support about this order.")
    text = as_json(storable(harmless))
    return load_version(text, source, received_at), text, personal


def load_version(text: str, source: Source, received_at: dt.datetime) -> Version:
    """A version from its stored text. DataError: it has no order_id."""
    order = Order.read(json_values.mapping(json_values.json_or_none(text.encode())))
    if order.order_id is None:
        raise DataError("an order event has no order_id. It stays in the inbox and is not applied.")
    return Version(source, hashlib.sha256(text.encode()).hexdigest(), order, received_at)


def as_json(value: Any) -> str:
    """JSON with exact decimals and sorted keys: equal values give equal text."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, dict):
        return "{" + ",".join([f"{_quoted(str(name))}:{as_json(value[name])}" for name in sorted(value, key=str)]) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join([as_json(entry) for entry in value]) + "]"
    return format(value, "f") if isinstance(value, Decimal) else json.dumps(value)
