"""An order on the wire: the body of the PUT (interface.md 4.8); what answers and events show (2.5, 2.6, 6; field notes, Orders)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from sqlalchemy import Connection

from partner_sandbox import money, webhooks
from partner_sandbox.bodies import Body, InstantUs, Number, Uuid
from partner_sandbox.clock import iso
from partner_sandbox.errors import ApiError
from partner_sandbox.orders.store import Item, Order, Pricing
from partner_sandbox.sandbox import Sandbox
from partner_sandbox.settings import Behaviour

Status = Literal["ACCEPTED", "READY_FOR_PICKUP", "DISPATCHED", "UPDATE_CART", "CANCELLED"]
SentItemStatus = Literal["NOT_PROCESSED", "IN_CART", "NOT_FOUND", "REPLACED", "ADDITION"]
ITEMS_MAX = 1000
Text = Annotated[str, Field(max_length=1000)]


class SentPricing(Body):
    """What may be changed of an item's pricing; list price and bounds are the platform's and ignored."""

    pricing_type: Literal["UNIT", "KG"] | None = None
    quantity: Number | None = None
    weight: Number | None = None
    unit_price: Number | None = None
    total_price: Number | None = None


class SentItem(Body):
    """One element of `items`; `original_pricing` and `promotion` are read-only and ignored."""

    id: Uuid | None = Field(None, alias="_id")
    sku: Text | None = None
    status: SentItemStatus | None = None
    replaced_id: Annotated[Uuid | None, BeforeValidator(lambda value: value or None)] = None
    """Empty counts as absent: a client was seen to send it so (field notes)."""
    pricing: SentPricing | None = None

    @property
    def cancels(self) -> bool:
        """`_id` as the only identifier (interface.md 2.6, 4.8.7)."""
        return self.id is not None and not self.sku


class Cancellation(Body):
    """A partner's own (field notes, Orders)."""

    reason: Literal["CLOSED", "ITEM_UNAVAILABLE", "TOO_BUSY"]
    cancelled_by: Literal["VENDOR"] = "VENDOR"


class OrderUpdate(Body):
    order_id: Uuid
    status: Status
    accepted_for: InstantUs | None = None
    items: list[SentItem] = Field(default_factory=list, max_length=ITEMS_MAX)
    confirmed_amount: Number | None = None
    cancellation: Cancellation | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.status == "ACCEPTED" and self.accepted_for is None:
            raise ValueError("accepted_for is required with the status ACCEPTED")
        if self.status == "CANCELLED" and self.cancellation is None:
            raise ValueError("cancellation is required with the status CANCELLED")
        return self

    @property
    def cancels(self) -> bool:
        """Whether an item has `_id` and no `sku`, which cancels the order in any case."""
        return any(item.cancels for item in self.items)


class CartError(ApiError):
    """400: the requested change of an item is not possible."""

    def __init__(
        self, code: str, where: str, problem: str, *, rule: str | None = None, choice: str | None = None
    ) -> None:
        super().__init__(400, code, f"{where}: {problem}" if where else problem, rule=rule, choice=choice)


ITEM_NOT_FOUND = "ITEM_NOT_FOUND"
INVALID_CART_UPDATE = "INVALID_CART_UPDATE"
VALIDATION_ERROR = "VALIDATION_ERROR"
INVALID_STATUS = "INVALID_STATUS"


COUNTRY = "XX"
"""The sandbox is in no country."""
VAT_PERCENT = 20
"""Of every product: the sandbox has no taxes."""
Where = Literal["answer", "history", "event"]


def shown(order: Order, behaviour: Behaviour, where: Where, *, state: str | None = None) -> dict[str, Any]:
    """In an answer of the PUT, in the history (both GETs) or in an event; `state` replaces the order's own."""
    status = state or order.state
    if where == "history" and behaviour.order_ended_status == "history" and status in {"PICKED_UP", "CANCELLED"}:
        status = status.lower()
    body: dict[str, Any] = {
        "order_id": order.order_id,
        "external_order_id": order.external_order_id,
        "order_code": order.order_code,
        "transport_type": order.transport_type,
        "order_type": order.order_type,
        "status": status,
        "promised_for": iso(order.promised_us),
        "client": _client(order, behaviour),
        "customer": _customer(order),
        "loyalty_program": order.loyalty_program,
        "comment": order.comment,
        "items": [_item(item) for item in order.items],
        "payment": _payment(order, behaviour),
        "sys": {"created_at": iso(order.created_us), "updated_at": iso(order.updated_us)},
    }
    if behaviour.order_shape != "nested":
        body["store_id"] = order.vendor
        body["external_partner_config_id"] = order.external_partner_config_id
        body["sub_total"] = money.number(order.sub_total_milli)
        body["order_total"] = money.number(order.order_total_milli)
    if order.accepted_us is not None:
        body["accepted_for"] = iso(order.accepted_us)
    if order.confirmed_milli is not None:
        body["confirmed_amount"] = money.number(order.confirmed_milli)
    if order.cancellation is not None:
        body["cancellation"] = order.cancellation
    if where != "event" or status == "RECEIVED":
        body["replacement_preferences"] = order.replacement_preferences
    return body


def _client(order: Order, behaviour: Behaviour) -> dict[str, Any]:
    client: dict[str, Any] = {
        "id": order.vendor,
        "chain_id": order.chain,
        "name": order.vendor_name,
        "country_code": COUNTRY,
    }
    if behaviour.order_shape != "flat":
        client["store_id"] = order.vendor
        client["external_partner_config_id"] = order.external_partner_config_id
    return client


def _customer(order: Order) -> dict[str, Any]:
    """With an address only where something is delivered (interface.md 2.5)."""
    customer = {**order.customer, "loyalty_card": order.loyalty_program.get("loyalty_card")}
    return customer if order.address is None else {**customer, "delivery_address": order.address}


def _payment(order: Order, behaviour: Behaviour) -> dict[str, Any]:
    payment: dict[str, Any] = {
        "type": order.payment_type,
        "delivery_fee": money.number(order.delivery_fee_milli),
        "service_fee": money.number(order.service_fee_milli),
        "discount": money.number(order.discount_milli),
        "discounts": [
            {"name": discount.name, "value": money.number(discount.value_milli)} for discount in order.discounts
        ],
    }
    if behaviour.order_shape != "flat":
        payment["sub_total"] = money.number(order.sub_total_milli)
        payment["order_total"] = money.number(order.order_total_milli)
    return payment


def _item(item: Item) -> dict[str, Any]:
    body: dict[str, Any] = {
        "_id": item.id,
        "sku": item.sku,
        "name": item.name,
        "status": item.status,
        "barcode": item.barcode,
        "image_url": item.image_url,
        "instructions": item.instructions,
        "vat_percent": VAT_PERCENT,
        "pricing": _pricing(item.pricing),
        "original_pricing": _pricing(item.original_pricing),
        "promotion": [
            {
                "name": promotion.name,
                "type": promotion.type,
                "discount_amount": money.number(promotion.discount_milli),
                "sponsorships": [{"sponsor": "VENDOR", "amount": money.number(promotion.discount_milli)}],
            }
            for promotion in item.promotions
        ],
    }
    return body if item.replaced_id is None else {**body, "replaced_id": item.replaced_id}


def _pricing(pricing: Pricing) -> dict[str, Any]:
    weighed = pricing.pricing_type == "KG"
    body: dict[str, Any] = {
        "pricing_type": pricing.pricing_type,
        "quantity": pricing.quantity,
        "unit_price": money.number(pricing.unit_price_milli),
        "total_price": money.number(pricing.total_price_milli),
        "list_price": money.number(pricing.list_price_milli),
        "min_quantity": pricing.least / 1000 if weighed else pricing.least,
        "max_quantity": pricing.most / 1000 if weighed else pricing.most,
    }
    return {**body, "weight": (pricing.weight_g or 0) / 1000} if weighed else body


def note_event(connection: Connection, sandbox: Sandbox, order: Order, event: str) -> None:
    """One of RECEIVED, READY_FOR_PICKUP, DISPATCHED, CANCELLED. Wake the work after the transaction."""
    webhooks.note(
        connection,
        sandbox,
        chain=order.chain,
        operation="order_webhook",
        subject=order.order_id,
        event=event,
        body=shown(order, sandbox.behaviour, "event", state=event),
        vendor=order.vendor,
    )
