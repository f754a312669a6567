"""A customer places an order: what the app shows them, at the price it shows (interface.md 2.5, 3.1)."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import Connection

from partner_sandbox.access.callers import Vendor
from partner_sandbox.catalog import money
from partner_sandbox.clock import to_us
from partner_sandbox.errors import invalid
from partner_sandbox.orders import events, goods, pricing, store
from partner_sandbox.orders.goods import Good
from partner_sandbox.orders.order import Order, OrderType, TransportType
from partner_sandbox.orders.pricing import Basket
from partner_sandbox.promotions import seen
from partner_sandbox.sandbox import Sandbox
from partner_sandbox.wire import Body, InstantUs, Number

PROMISED_S = 45 * 60
CUSTOMER = {"first_name": "Robin", "last_name": "Example", "phone_number": "+447700900123"}
ADDRESS = {"street": "1 Example Street", "city": "Exampleton", "postal_code": "EX1 1EX"}
Text = Annotated[str, Field(max_length=1000)]


class Line(Body):
    """What is ordered. For goods sold by weight `quantity` counts portions of the base weight unless `weight` is given."""

    sku: Annotated[str, Field(min_length=1)]
    quantity: Annotated[Number, Field(gt=0, lt=100_000)] = Decimal(1)
    weight: Annotated[Number, Field(gt=0, lt=100_000)] | None = None
    min_quantity: Number | None = Field(
        None, description="instead of the platform's bound; kilograms for what is weighed"
    )
    max_quantity: Number | None = None


class Loyalty(Body):
    loyalty_card: Text | None = None
    voucher_code: Text | None = None


class Placement(Body):
    """The body of the control plane's call; everything but the items has a default."""

    items: list[Line] = Field(min_length=1, max_length=500)
    transport_type: TransportType = "LOGISTICS_DELIVERY"
    order_type: OrderType = "DELIVERY"
    placed_at: InstantUs | None = Field(None, description="in the past, for a history; now without it")
    promised_for: InstantUs | None = None
    customer: dict[str, Any] = Field(default_factory=dict)
    delivery_address: dict[str, Any] = Field(default_factory=dict)
    loyalty_program: Loyalty = Loyalty()
    comment: Text = ""
    replacement_preferences: dict[str, Any] = Field(default_factory=dict)
    payment_type: Literal["PAID", "CASH"] = "PAID"
    delivery_fee: Number = Decimal("1.99")
    service_fee: Number = Decimal("0.49")


def place(sandbox: Sandbox, vendor: Vendor, wanted: Placement) -> Order:
    """Creates the order and notes its event; ApiError for an order that a customer cannot place."""
    with sandbox.storage.begin() as connection:
        order = _make(connection, sandbox, vendor, wanted)
        store.add(connection, vendor.key, order)
        if sandbox.behaviour.order_first_event == "RECEIVED":
            events.note(connection, sandbox, order, "RECEIVED")
    sandbox.work.wake()
    return order


def _make(connection: Connection, sandbox: Sandbox, vendor: Vendor, wanted: Placement) -> Order:
    now_us = sandbox.clock.now_us()
    placed_us = (now_us if wanted.placed_at is None else wanted.placed_at) // 1000 * 1000  # as it is shown
    if placed_us > now_us:
        raise invalid("placed_at", "must not be in the future")
    basket = _basket(connection, sandbox, vendor, wanted, now_us)
    address = None if wanted.order_type == "PICKUP" else {**ADDRESS, **wanted.delivery_address}
    order_id = sandbox.ids.uuid()
    number = f"{int(order_id[:8], 16) % 10**9:09d}"
    order = Order(
        order_id=order_id,
        external_order_id=f"{vendor.vendor}-{number}",
        order_code=number[-4:],
        chain=vendor.chain,
        vendor=vendor.vendor,
        vendor_name=vendor.name,
        external_partner_config_id=vendor.external_partner_config_id,
        transport_type=wanted.transport_type,
        order_type=wanted.order_type,
        state="RECEIVED",
        promised_us=wanted.promised_for or placed_us + to_us(PROMISED_S),
        created_us=placed_us,
        updated_us=placed_us,
        items=basket.items,
        customer={**CUSTOMER, **wanted.customer},
        address=address,
        loyalty_program=wanted.loyalty_program.model_dump(),
        comment=wanted.comment,
        replacement_preferences=wanted.replacement_preferences,
        payment_type=wanted.payment_type,
        delivery_fee_milli=0 if wanted.order_type == "PICKUP" else money.cut(wanted.delivery_fee),
        service_fee_milli=money.cut(wanted.service_fee),
        discounts=basket.discounts,
        sub_total_milli=0,
        order_total_milli=0,
    )
    return order.with_items(order.items)


def _basket(connection: Connection, sandbox: Sandbox, vendor: Vendor, wanted: Placement, now_us: int) -> Basket:
    skus = {line.sku for line in wanted.items}
    known = goods.find(connection, vendor.key, skus, now_us)
    promotions = seen.now(connection, vendor.key, now_us, skus)
    basket = Basket(new_id=sandbox.ids.uuid)
    ordered: defaultdict[str, int] = defaultdict(int)
    for number, line in enumerate(wanted.items):
        where = f"items[{number}]"
        good = _on_sale(where, known.get(line.sku))
        quantity = 1 if good.by_weight else pricing.whole(f"{where}.quantity", line.quantity)
        ordered[good.sku] += quantity
        if good.app_sales_limit is not None and ordered[good.sku] > good.app_sales_limit:
            raise invalid(f"{where}.quantity", f"a customer may order {good.app_sales_limit} of this product at most")
        if line.weight is not None and not good.by_weight:
            raise invalid(f"{where}.weight", "is for products sold by weight")
        basket.add(good, quantity, _weight_g(good, line), promotions.get(good.sku), _bounds(where, good, line))
    return basket


def _on_sale(where: str, good: Good | None) -> Good:
    if good is None:
        raise invalid(f"{where}.sku", "the vendor has no such product")
    if not good.app_active or good.app_price_milli is None:
        raise invalid(f"{where}.sku", "customers do not see this product as available")
    return good


def _weight_g(good: Good, line: Line) -> int | None:
    if not good.by_weight:
        return None
    return max(1, int(good.base_g * line.quantity) if line.weight is None else pricing.grams(line.weight))


def _bounds(where: str, good: Good, line: Line) -> dict[str, int]:
    """The requested bounds instead of the platform's."""
    given = {"least": line.min_quantity, "most": line.max_quantity}
    asked = {name: value for name, value in given.items() if value is not None}
    if good.by_weight:
        return {name: pricing.grams(value) for name, value in asked.items()}
    return {name: pricing.whole(f"{where}.min_quantity", value) for name, value in asked.items()}
