"""The actions of the portal's forms; each returns to a page."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError
from sqlalchemy import select

from partner_sandbox import bodies, conformance, webhooks
from partner_sandbox.catalog import assortment
from partner_sandbox.errors import ApiError, invalid, not_found, validation_error
from partner_sandbox.faults import Rule, RuleSet
from partner_sandbox.orders import lifecycle, placing
from partner_sandbox.orders.store import Order
from partner_sandbox.portal.pages import Frame, PageRoute, TheFrame, from_this_site
from partner_sandbox.vendors import named_vendor

FORM_BYTES_MAX = 256 * 1024
FIELDS_MAX = 2000


class Form:
    """Field by field; a field may occur several times."""

    def __init__(self, fields: dict[str, list[str]]) -> None:
        self._fields = fields

    def all(self, name: str) -> list[str]:
        return self._fields.get(name, [])

    def text(self, name: str) -> str:
        """Without the spaces around it; empty when it is not there."""
        return self._fields.get(name, [""])[0].strip()

    def ticked(self, name: str) -> bool:
        return bool(self.text(name))

    def number(self, name: str) -> float | None:
        """None when it is empty."""
        text = self.text(name).replace(",", ".")
        if not text:
            return None
        try:
            number = float(text)
        except ValueError:
            raise invalid(name, "must be a number") from None
        if not abs(number) < 1e12:
            raise invalid(name, "is too large")
        return number

    def back(self, otherwise: str) -> str:
        """The page of the portal to return to; never another site."""
        wanted = self.text("back")
        inside = wanted == "/portal" or wanted.startswith(("/portal/", "/portal?"))
        return wanted if inside and not set(wanted) & set("\\\r\n") else otherwise


async def read(request: Request) -> Form:
    """The form of a request; 413 for one that no page of the portal sends."""
    body = await bodies.limited(request, FORM_BYTES_MAX, "form")
    try:
        return Form(parse_qs(body.decode(), keep_blank_values=True, max_num_fields=FIELDS_MAX, errors="strict"))
    except ValueError:
        raise invalid("", "the body is no form") from None


router = APIRouter(dependencies=[Depends(from_this_site)], route_class=PageRoute)
ADVANCE_S_MAX = 366 * 86_400
_MOVES = {"dispatch": lifecycle.dispatch, "pick-up": lifecycle.pick_up}


@router.post("/orders")
async def place(request: Request, frame: TheFrame) -> Response:
    """A customer orders."""
    form = await read(request)
    order = await asyncio.to_thread(_place, frame, form)
    return _to(f"/portal/orders/{order.order_id}?{urlencode({'chain': order.chain})}")


@router.post("/orders/{order_id}/{move}")
async def move(request: Request, frame: TheFrame, order_id: str, move: str) -> Response:
    """Customer, logistics or rider do something with an order."""
    form = await read(request)
    if move == "cancel":
        by = "LOGISTICS" if form.text("by") == "LOGISTICS" else "CUSTOMER"
        await asyncio.to_thread(lifecycle.cancel, frame.sandbox, order_id, by, form.text("reason") or "CHANGED_MIND")
    elif move in _MOVES:
        await asyncio.to_thread(_MOVES[move], frame.sandbox, order_id)
    else:
        raise not_found("Action")
    return _to(form.back(f"/portal/orders/{order_id}"))


@router.post("/vendors/{vendor_id}/products")
async def put_product(request: Request, frame: TheFrame, vendor_id: str) -> Response:
    """Makes a product or changes it; customers see it at once."""
    form = await read(request)
    item = _product(form)
    with frame.sandbox.storage.begin() as connection:
        vendor = named_vendor(connection, frame.chain, vendor_id)
        try:
            assortment.put_one(connection, frame.sandbox.ids, vendor, item, frame.sandbox.clock.now_us())
        except ApiError as error:
            raise invalid("", error.message.removeprefix("products[0].")) from None
    return _to(f"/portal/vendors/{quote(vendor_id, safe='')}?{urlencode({'chain': frame.chain, 'q': item['sku']})}")


@router.post("/webhooks")
async def put_webhook(request: Request, frame: TheFrame) -> Response:
    """Where events go; a secret that is left empty stays as it is."""
    form = await read(request)
    urls = {name: webhooks.checked(name, form.text(name)) for name in ("catalog_url", "order_url")}
    with frame.sandbox.storage.begin() as connection:
        known = connection.execute(
            select(webhooks.webhook).where(webhooks.webhook.c.chain == frame.chain)
        ).one_or_none()
        secret = None if form.ticked("forget") else (form.text("secret") or (known.secret if known else None))
        webhooks.configure(connection, frame.chain, **urls, secret=secret)
    return _to(form.back("/portal/webhooks"))


@router.post("/faults")
async def add_fault(request: Request, frame: TheFrame) -> Response:
    """Adds a fault; the counts of all faults start again."""
    form = await read(request)
    faults = frame.sandbox.faults
    names = set(Rule.model_fields)
    held = [{name: value for name, value in rule.items() if name in names} for rule in faults.state()["rules"]]
    try:
        faults.put(RuleSet(seed=faults.seed, rules=[*(Rule(**rule) for rule in held), _rule(form)]))
    except ValueError as error:
        raise invalid("", str(error).removeprefix(f"rules[{len(held)}]: ")) from None
    return _to(form.back("/portal/faults"))


@router.post("/faults/clear")
async def clear_faults(request: Request, frame: TheFrame) -> Response:
    """Removes all faults."""
    form = await read(request)
    frame.sandbox.faults.clear()
    return _to(form.back("/portal/faults"))


@router.post("/check")
async def send_probe(request: Request, frame: TheFrame) -> Response:
    """Sends the last events again, and with a wrong secret."""
    form = await read(request)
    await conformance.post_probe(frame.sandbox)
    return _to(form.back("/portal/check"))


@router.post("/clock")
async def advance(request: Request, frame: TheFrame) -> Response:
    """Moves the clock; the work that falls due ends before the page returns."""
    form = await read(request)
    seconds = form.number("seconds") or 0.0
    if not 0 <= seconds <= ADVANCE_S_MAX:
        raise invalid("seconds", f"must be from 0 to {ADVANCE_S_MAX}")
    await frame.sandbox.work.advance(seconds)
    return _to(form.back("/portal"))


def _place(frame: Frame, form: Form) -> Order:
    skus, quantities = form.all("sku"), form.all("quantity")
    lines: list[dict[str, Any]] = []
    for sku, quantity in zip(skus, quantities, strict=False):
        if sku.strip() and quantity.strip():
            lines.append({"sku": sku.strip(), "quantity": _decimal(quantity.strip())})
    if not lines:
        raise invalid("", "choose at least one product and how many of it")
    choices = {name: form.text(name) for name in ("transport_type", "order_type", "comment") if form.text(name)}
    try:
        wanted = placing.Placement.model_validate({"items": lines, **choices})
    except ValidationError as error:
        raise validation_error(error.errors()) from None
    return placing.place(frame.sandbox, frame.chain, form.text("vendor"), wanted)


def _product(form: Form) -> dict[str, Any]:
    """The fields that were filled in."""
    item: dict[str, Any] = {name: form.text(name) for name in ("sku", "title") if form.text(name)}
    if form.text("price"):
        item["price"] = form.text("price").replace(",", ".")
    for name in ("max_sales_quantity", "sales_buffer"):
        number = form.number(name)
        if number is not None and number != int(number):
            raise invalid(name, "must be a whole number")
        item |= {} if number is None else {name: int(number)}
    ticks = {name: form.ticked(name) for name in ("active", "is_sold_by_weight")}
    return {**item, **ticks, "barcodes": form.text("barcodes").replace(",", " ").split()}


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text.replace(",", "."))
    except ArithmeticError:
        raise invalid("quantity", f"must be a number, not {text[:40]!r}") from None


def _rule(form: Form) -> Rule:
    values: dict[str, Any] = {"at": form.text("at"), "kind": form.text("kind")}
    probability, times, seconds = (form.number(name) for name in ("probability", "times", "seconds"))
    values |= {} if probability is None else {"probability": probability}
    values |= {} if times is None else {"times": int(times)}
    values |= {} if seconds is None else {"seconds": seconds}
    values |= {"vendor": form.text("vendor")} if form.text("vendor") else {}
    try:
        return Rule(**values)
    except ValidationError as error:
        raise validation_error(error.errors()) from None


def _to(path: str) -> RedirectResponse:
    return RedirectResponse(path, 303)
