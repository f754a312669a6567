"""A customer places an order: what the app shows them, at the price it shows (interface.md 2.5, 3.1)."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import Connection

from partner_sandbox import money
from partner_sandbox.bodies import InstantUs, Number, StrictKnown
from partner_sandbox.clock import to_us
from partner_sandbox.errors import ApiError, invalid
from partner_sandbox.orders import pricing, store
from partner_sandbox.orders.payload import note_event
from partner_sandbox.orders.pricing import Good
from partner_sandbox.orders.store import AppliedPromotion, CartDiscount, Item, Order, OrderType, TransportType
from partner_sandbox.promotions import shown
from partner_sandbox.promotions.shown import STRIKETHROUGH, Seen
from partner_sandbox.sandbox import Sandbox
from partner_sandbox.vendors import Vendor, outlet, store_named

PROMISED_S = 45 * 60
CUSTOMER = {"first_name": "Robin", "last_name": "Example", "phone_number": "+447700900123"}
ADDRESS = {
    "street": "1 Example Street",
    "number": "1",
    "city": "Exampleton",
    "postal_code": "EX1 1EX",
    "country": "XX",
    "latitude": 0.5,
    "longitude": 0.25,
}
Text = Annotated[str, Field(max_length=1000)]


class Line(StrictKnown):
    """What is ordered. For goods sold by weight `quantity` counts portions of the base weight unless `weight` is given."""

    sku: Annotated[str, Field(min_length=1)]
    quantity: Annotated[Number, Field(gt=0, lt=100_000)] = Decimal(1)
    weight: Annotated[Number, Field(gt=0, lt=100_000)] | None = None
    min_quantity: Number | None = Field(
        None, description="instead of the platform's bound; kilograms for what is weighed"
    )
    max_quantity: Number | None = None
    instructions: Text = ""


class Loyalty(StrictKnown):
    loyalty_card: Text | None = None
    voucher_code: Text | None = None


class Placement(StrictKnown):
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


def place(sandbox: Sandbox, chain: str, vendor_id: str, wanted: Placement) -> Order:
    """Creates the order and notes its event; ApiError for an order that a customer cannot place."""
    with sandbox.storage.begin() as connection:
        vendor = store_named(connection, chain, vendor_id)
        status = outlet(connection, vendor, sandbox.clock.now_us())["status"]
        if status != "OPEN" and wanted.placed_at is None:
            raise ApiError(409, "CONFLICT", f"The outlet is {status}: customers cannot order from it")
        order = _make(connection, sandbox, vendor, wanted)
        store.add(connection, vendor.key, order)
        if sandbox.behaviour.order_first_event == "RECEIVED":
            note_event(connection, sandbox, order, "RECEIVED")
    sandbox.work.wake()
    return order


def _make(connection: Connection, sandbox: Sandbox, vendor: Vendor, wanted: Placement) -> Order:
    now_us = sandbox.clock.now_us()
    placed_us = (now_us if wanted.placed_at is None else wanted.placed_at) // 1000 * 1000  # as it is shown
    if placed_us > now_us:
        raise invalid("placed_at", "must not be in the future")
    basket = _basket(connection, sandbox, vendor, wanted, now_us)
    address = {**ADDRESS, **wanted.delivery_address}
    address.setdefault("zipcode", address["postal_code"])
    customer = {**CUSTOMER, **wanted.customer}
    customer.setdefault("id", str(uuid.uuid5(uuid.NAMESPACE_URL, f"customer {customer['phone_number']}")))
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
        customer=customer,
        address=None if wanted.order_type == "PICKUP" else address,
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
    known = pricing.find_goods(connection, vendor.key, skus, now_us)
    promotions = shown.now(connection, vendor.key, now_us, skus)
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
        basket.instructions = line.instructions
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


@dataclass
class _Used:
    items: int = 0
    discount_milli: int = 0


@dataclass
class Basket:
    """Grows line by line."""

    new_id: Callable[[], str]
    items: tuple[Item, ...] = ()
    discounts: tuple[CartDiscount, ...] = ()
    instructions: str = ""
    """The customer's, of the line that is being added."""
    _used: defaultdict[int, _Used] = field(default_factory=lambda: defaultdict(_Used))
    _used_of_sku: defaultdict[tuple[int, str], int] = field(default_factory=lambda: defaultdict(int))

    def add(
        self, good: Good, quantity: int, weight_g: int | None, promotion: Seen | None, bounds: dict[str, int]
    ) -> None:
        """A line of the customer's; `bounds` replace the platform's on its pricing."""
        shelf = good.app_price_milli or 0
        price = None if promotion is None else promotion.price_milli(shelf)
        if promotion is None or price is None:
            self._entry(good, quantity, weight_g, shelf, (), bounds)
            return
        if promotion.type != STRIKETHROUGH:
            self._bundle(good, quantity, weight_g, promotion, shelf - price, bounds)
            return
        cheaper = quantity if good.by_weight else min(quantity, self._allowed(good, promotion, shelf - price))
        if cheaper:
            saved = _saving(shelf - price, cheaper, weight_g)
            self._use(good, promotion, cheaper, saved)
            applied = (AppliedPromotion(name=promotion.name, type=promotion.type, discount_milli=saved),)
            self._entry(good, cheaper, weight_g, price, applied, bounds)
        if quantity > cheaper:
            self._entry(good, quantity - cheaper, weight_g, shelf, (), bounds)

    def _bundle(
        self, good: Good, quantity: int, weight_g: int | None, promotion: Seen, each_milli: int, bounds: dict[str, int]
    ) -> None:
        bought, given = promotion.purchased_quantity or 1, promotion.discounted_quantity or 1
        rounds, rest = divmod(quantity, bought + given)
        eligible = 0 if good.by_weight else rounds * given + max(0, rest - bought)
        pieces = min(eligible, self._allowed(good, promotion, each_milli))
        applied: tuple[AppliedPromotion, ...] = ()
        if pieces:
            saved = each_milli * pieces
            self._use(good, promotion, pieces, saved)
            self.discounts += (CartDiscount(name=promotion.name, value_milli=saved),)
            applied = (AppliedPromotion(name=promotion.name, type=promotion.type, discount_milli=saved),)
        self._entry(good, quantity, weight_g, good.app_price_milli or 0, applied, bounds)

    def _allowed(self, good: Good, promotion: Seen, each_milli: int) -> int:
        """How many more pieces the promotion's limits let into this order."""
        used = self._used[promotion.promotion_id]
        limits = [10**9]
        if promotion.max_quantity is not None:
            limits.append(promotion.max_quantity - self._used_of_sku[promotion.promotion_id, good.sku])
        if promotion.max_items is not None:
            limits.append(promotion.max_items - used.items)
        if promotion.max_discount_milli is not None:
            limits.append((promotion.max_discount_milli - used.discount_milli) // max(each_milli, 1))
        return max(0, min(limits))

    def _use(self, good: Good, promotion: Seen, pieces: int, saved_milli: int) -> None:
        used = self._used[promotion.promotion_id]
        used.items += pieces
        used.discount_milli += saved_milli
        self._used_of_sku[promotion.promotion_id, good.sku] += pieces

    def _entry(
        self,
        good: Good,
        quantity: int,
        weight_g: int | None,
        unit_milli: int,
        applied: tuple[AppliedPromotion, ...],
        bounds: dict[str, int],
    ) -> None:
        shelf = good.app_price_milli or 0
        pricing = good.pricing(quantity, weight_g, unit_milli=unit_milli, list_milli=shelf).model_copy(update=bounds)
        self.items += (
            Item(
                id=self.new_id(),
                sku=good.sku,
                name=good.name,
                status="NOT_PROCESSED",
                pricing=pricing,
                original_pricing=pricing,
                promotions=applied,
                barcode=good.barcode,
                image_url=good.image_url,
                instructions=self.instructions,
            ),
        )


def _saving(each_milli: int, pieces: int, weight_g: int | None) -> int:
    return each_milli * pieces if weight_g is None else (each_milli * weight_g + 500) // 1000
