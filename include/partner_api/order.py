"""Orders as the platform reports them, by GET, by PUT's answer or by webhook (interface.md 2.5 to 2.7).

Identifiers and totals are flat or inside `client` and `payment`: both are read. No repr shows personal data of the customer; a store
needs it to deliver, and no log may hold it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from partner_api import json_values

if TYPE_CHECKING:
    import datetime as dt

    from partner_api.json_values import Raw


AMOUNT_MAX = Decimal(10) ** 12
"""Of quantities, weights and sums: the product of two of them is exact to three places in the usual 28 digits."""
_FIRST_YEAR, _LAST_YEAR = 1970, 2999
"""Years that every time zone can express."""


@dataclass(frozen=True, slots=True)
class Pricing:
    """Quantities and prices of an item, exact. Only this class holds the ordered quantity; for `KG` it is 1 and the weight counts."""

    pricing_type: str | None
    quantity: Decimal | None
    unit_price: Decimal | None
    total_price: Decimal | None
    list_price: Decimal | None
    min_quantity: Decimal | None
    max_quantity: Decimal | None
    weight: Decimal | None

    @classmethod
    def read(cls, raw: Raw) -> Pricing:
        kind = json_values.text(raw, "pricing_type")
        names = ("quantity", "unit_price", "total_price", "list_price", "min_quantity", "max_quantity", "weight")
        return cls(kind.upper() if kind else None, *(_amount(raw, name) for name in names))


@dataclass(frozen=True, slots=True)
class ItemPromotion:
    """A promotion fixed on an item when the order was made. `sponsorships`: sponsor and amount."""

    name: str | None
    type: str | None
    discount_amount: Decimal | None
    sponsorships: tuple[tuple[str | None, Decimal | None], ...]

    @classmethod
    def read(cls, raw: Raw) -> ItemPromotion:
        sponsorships = tuple(
            (json_values.text(entry, "sponsor"), _amount(entry, "amount"))
            for entry in json_values.mappings(raw.get("sponsorships"))
        )
        return cls(
            json_values.text(raw, "name"), json_values.text(raw, "type"), _amount(raw, "discount_amount"), sponsorships
        )


@dataclass(frozen=True, slots=True)
class OrderItem:
    """`item_id` is the platform's `_id`: never the only identifier."""

    item_id: str | None
    sku: str | None
    name: str | None
    status: str | None
    replaced_id: str | None
    pricing: Pricing
    original_pricing: Pricing | None
    promotions: tuple[ItemPromotion, ...]
    raw: Raw = field(repr=False)

    @classmethod
    def read(cls, raw: Raw) -> OrderItem:
        original = json_values.mapping(raw.get("original_pricing"))
        return cls(
            json_values.text(raw, "_id"),
            json_values.text(raw, "sku"),
            json_values.text(raw, "name"),
            _upper(json_values.text(raw, "status")),
            json_values.text(raw, "replaced_id"),
            Pricing.read(json_values.mapping(raw.get("pricing"))),
            Pricing.read(original) if original else None,
            tuple(ItemPromotion.read(entry) for entry in json_values.mappings(raw.get("promotion"))),
            raw,
        )


@dataclass(frozen=True, slots=True)
class Order:
    """One order. `status` is upper case and of one spelling (history's `picked_up` too); instants are aware, in UTC; there is no currency."""

    order_id: str | None
    external_order_id: str | None
    order_code: str | None
    transport_type: str | None
    order_type: str | None
    status: str | None
    promised_for: dt.datetime | None
    accepted_for: dt.datetime | None
    created_at: dt.datetime | None
    updated_at: dt.datetime | None
    chain_id: str | None
    store_id: str | None
    external_partner_config_id: str | None
    sub_total: Decimal | None
    order_total: Decimal | None
    items: tuple[OrderItem, ...]
    customer_phone: str | None = field(repr=False)
    loyalty_card: str | None = field(repr=False)
    voucher_code: str | None = field(repr=False)
    replacement_preferences: Raw = field(repr=False)
    raw: Raw = field(repr=False)

    @classmethod
    def read(cls, raw: Raw) -> Order:
        client, payment, customer, system, loyalty = (
            json_values.mapping(raw.get(name)) for name in ("client", "payment", "customer", "sys", "loyalty_program")
        )
        return cls(
            order_id=json_values.text(raw, "order_id"),
            external_order_id=json_values.text(raw, "external_order_id"),
            order_code=json_values.text(raw, "order_code"),
            transport_type=_upper(json_values.text(raw, "transport_type")),
            order_type=_upper(json_values.text(raw, "order_type")),
            status=_order_status(raw),
            promised_for=_instant(raw, "promised_for"),
            accepted_for=_instant(raw, "accepted_for"),
            created_at=_instant(system, "created_at") or _instant(raw, "created_at"),
            updated_at=_instant(system, "updated_at") or _instant(raw, "updated_at"),
            chain_id=json_values.text(client, "chain_id") or json_values.text(raw, "chain_id"),
            store_id=json_values.text(client, "store_id") or json_values.text(raw, "store_id"),
            external_partner_config_id=json_values.text(client, "external_partner_config_id")
            or json_values.text(raw, "external_partner_config_id"),
            sub_total=_either(payment, raw, "sub_total"),
            order_total=_either(payment, raw, "order_total"),
            items=tuple(OrderItem.read(entry) for entry in json_values.mappings(raw.get("items"))),
            customer_phone=json_values.text(customer, "phone_number") or json_values.text(raw, "customer_phone"),
            loyalty_card=json_values.text(loyalty, "loyalty_card") or json_values.text(customer, "loyalty_card"),
            voucher_code=json_values.text(loyalty, "voucher_code"),
            replacement_preferences=json_values.mapping(raw.get("replacement_preferences")),
            raw=raw,
        )

    @property
    def vendor_id(self) -> str | None:
        """The partner's own identifier of the store if there is one, else the platform's."""
        return self.external_partner_config_id or self.store_id


@dataclass(frozen=True, slots=True)
class OrderPage:
    """One page of a vendor's history (interface.md 2.7)."""

    orders: tuple[Order, ...] = field(repr=False)
    page_number: int | None
    page_size: int | None
    total_pages: int | None
    raw: Raw = field(repr=False)

    @classmethod
    def read(cls, raw: Raw) -> OrderPage:
        return cls(
            tuple(Order.read(entry) for entry in json_values.mappings(raw.get("orders"))),
            json_values.integer(raw, "page_number"),
            json_values.integer(raw, "page_size"),
            json_values.integer(raw, "total_pages"),
            raw,
        )


@dataclass(frozen=True, slots=True)
class OrderHistory:
    """All pages of a range, each order once. If not `complete`, orders may be missing; `why` is the reason."""

    orders: tuple[Order, ...] = field(repr=False)
    pages: int
    complete: bool
    why: str | None


def _either(inner: Raw, outer: Raw, name: str) -> Decimal | None:
    found = _amount(inner, name)
    return _amount(outer, name) if found is None else found


def _amount(raw: Raw, name: str) -> Decimal | None:
    """A quantity, a weight or a sum; None for one that no order can have."""
    number = json_values.decimal(raw, name)
    return number if number is not None and abs(number) <= AMOUNT_MAX else None


def _instant(raw: Raw, name: str) -> dt.datetime | None:
    """A time at which an order is possible; None for any other."""
    moment = json_values.instant(raw, name)
    return moment if moment is not None and _FIRST_YEAR <= moment.year <= _LAST_YEAR else None


def _order_status(raw: Raw) -> str | None:
    """An end is known in its other spellings too: a cancellation that is read as a word of its own ends no order."""
    word = _upper(json_values.text(raw, "status"))
    if word is None:
        return None
    word = word.replace("-", "_").replace(" ", "_")
    return "CANCELLED" if word == "CANCELED" else word


def _upper(value: str | None) -> str | None:
    return value.upper() if value else None
