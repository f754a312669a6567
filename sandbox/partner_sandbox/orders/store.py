"""Orders as the platform stores them (interface.md 2.5, 2.6): money in thousandths, weights in grams, instants in microseconds."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from sqlalchemy import Column, ColumnElement, Connection, ForeignKey, Index, Integer, Table, Text, select, update

from partner_sandbox import storage
from partner_sandbox.clock import to_us
from partner_sandbox.errors import not_found
from partner_sandbox.storage import metadata

State = Literal["RECEIVED", "ACCEPTED", "READY_FOR_PICKUP", "DISPATCHED", "PICKED_UP", "CANCELLED"]
ItemState = Literal["NOT_PROCESSED", "IN_CART", "NOT_FOUND", "REPLACED", "ADDITION"]
TransportType = Literal["LOGISTICS_DELIVERY", "VENDOR_DELIVERY"]
OrderType = Literal["DELIVERY", "PICKUP"]
ENDED: tuple[State, ...] = ("PICKED_UP", "CANCELLED")
OUT_OF_THE_CART: tuple[ItemState, ...] = ("NOT_FOUND", "REPLACED")


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Pricing(_Kept):
    """`UNIT`: pieces at a price each. `KG`: quantity 1, a weight, a price per kilogram."""

    pricing_type: Literal["UNIT", "KG"]
    quantity: int
    weight_g: int | None = None
    unit_price_milli: int
    total_price_milli: int
    list_price_milli: int
    least: int
    """Pieces or, for `KG`, grams."""
    most: int


class AppliedPromotion(_Kept):
    """Fixed when the order was made, whatever happens to the item later (interface.md 4.8.3)."""

    name: str
    type: str
    discount_milli: int


class Item(_Kept):
    id: str
    sku: str
    name: str
    status: ItemState
    pricing: Pricing
    original_pricing: Pricing
    promotions: tuple[AppliedPromotion, ...] = ()
    replaced_id: str | None = None
    barcode: str | None = None
    image_url: str | None = None
    instructions: str = ""


class CartDiscount(_Kept):
    """Taken from the whole order."""

    name: str
    value_milli: int


class Order(_Kept):
    order_id: str
    external_order_id: str
    order_code: str
    chain: str
    vendor: str
    vendor_name: str
    external_partner_config_id: str | None
    transport_type: TransportType
    order_type: OrderType
    state: State
    promised_us: int
    accepted_us: int | None = None
    created_us: int
    updated_us: int
    items: tuple[Item, ...]
    customer: dict[str, Any]
    address: dict[str, Any] | None
    loyalty_program: dict[str, Any]
    comment: str
    replacement_preferences: dict[str, Any]
    payment_type: Literal["PAID", "CASH"]
    delivery_fee_milli: int
    service_fee_milli: int
    discounts: tuple[CartDiscount, ...] = ()
    sub_total_milli: int
    order_total_milli: int
    confirmed_milli: int | None = None
    cancellation: dict[str, Any] | None = None

    def with_items(self, items: tuple[Item, ...]) -> Order:
        """The same with other items, and totals that follow from them."""
        sub_total = sub_total_milli(items)
        values = {
            "items": items,
            "sub_total_milli": sub_total,
            "order_total_milli": max(0, sub_total + self.fees_milli - self.discount_milli),
        }
        return self.model_copy(update=values)

    @property
    def fees_milli(self) -> int:
        return self.delivery_fee_milli + self.service_fee_milli

    @property
    def discount_milli(self) -> int:
        return sum(discount.value_milli for discount in self.discounts)


def sub_total_milli(items: tuple[Item, ...]) -> int:
    """What is in the cart, or still to be put there."""
    return sum(item.pricing.total_price_milli for item in items if item.status not in OUT_OF_THE_CART)


orders = Table(
    "customer_order",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("order_id", Text, nullable=False, unique=True),
    Column("chain", Text, nullable=False),
    Column("vendor_key", Integer, ForeignKey("vendor.id"), nullable=False),
    Column("state", Text, nullable=False),
    Column("created_us", Integer, nullable=False),
    Column("updated_us", Integer, nullable=False),
    Column("document", Text, nullable=False, comment="the whole of it, orders.store.Order as JSON"),
    Column("before", Text, comment="the document before its last change, for a replica that lags"),
    Index("customer_order_by_time", "vendor_key", "created_us"),
)


HISTORY_US = to_us(60 * 86_400)
"""Only orders of the past 60 days are available (interface.md 4.9, 4.10)."""


def add(connection: Connection, vendor_key: int, order: Order) -> None:
    row = {"order_id": order.order_id, "chain": order.chain, "vendor_key": vendor_key, "created_us": order.created_us}
    connection.execute(orders.insert().values({**row, **_changing(order)}))


def save(connection: Connection, before: Order, order: Order, now_us: int) -> Order:
    """The order with its new `updated_at`, which no two states of an order share down to the millisecond."""
    saved = order.model_copy(update={"updated_us": max(now_us // 1000 * 1000, before.updated_us + 1000)})
    values = {**_changing(saved), "before": before.model_dump_json()}
    connection.execute(update(orders).where(orders.c.order_id == order.order_id).values(values))
    return saved


def find(connection: Connection, order_id: str, now_us: int, *, chain: str | None = None, stale: bool = False) -> Order:
    """An order of the past 60 days, 404 for any other; `stale`: as it was before its last change."""
    wanted = [orders.c.order_id == order_id, orders.c.created_us >= _earliest_us(now_us)]
    if chain is not None:
        wanted.append(orders.c.chain == chain)
    row = connection.execute(select(orders).where(*wanted)).one_or_none()
    if row is None:
        raise not_found("Order")
    return _read(row, stale=stale)


def page(
    connection: Connection,
    where: tuple[ColumnElement[bool], ...],
    first: int,
    count: int,
    *,
    newest_first: bool = False,
    stale: bool = False,
) -> tuple[int, list[Order]]:
    """The total, and one page of the orders in the order of their creation."""
    by = (orders.c.created_us, orders.c.seq)
    ordered = select(orders).where(*where).order_by(*(column.desc() if newest_first else column for column in by))
    total, rows = storage.page(connection, ordered, first, count)
    return total, [_read(row, stale=stale) for row in rows]


def within(vendor_key: int, start_us: int, end_us: int, now_us: int) -> tuple[ColumnElement[bool], ...]:
    """Orders of a vendor made in a range, both ends included, no more than 60 days ago."""
    earliest_us = max(start_us, _earliest_us(now_us))
    return (orders.c.vendor_key == vendor_key, orders.c.created_us >= earliest_us, orders.c.created_us <= end_us)


def of_chain(chain: str) -> tuple[ColumnElement[bool], ...]:
    return (orders.c.chain == chain,)


def _earliest_us(now_us: int) -> int:
    return now_us // 1000 * 1000 - HISTORY_US  # orders are made at whole milliseconds


def _changing(order: Order) -> dict[str, Any]:
    return {"state": order.state, "updated_us": order.updated_us, "document": order.model_dump_json()}


def _read(row: Any, *, stale: bool) -> Order:
    return Order.model_validate_json(row.before if stale and row.before else row.document)
