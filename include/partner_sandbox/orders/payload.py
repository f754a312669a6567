"""An order as the interface shows it, in answers and in events (interface.md 2.5, 2.6, 6; field notes, Orders)."""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy import Connection

from partner_sandbox import money, webhooks
from partner_sandbox.clock import iso
from partner_sandbox.orders.store import Item, Order, Pricing
from partner_sandbox.sandbox import Sandbox
from partner_sandbox.settings import Behaviour

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
