"""What the portal's forms do; each leads back to a page."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError
from sqlalchemy import select

from partner_sandbox import bodies
from partner_sandbox.errors import invalid, not_found
from partner_sandbox.faults.rules import Rule, RuleSet
from partner_sandbox.orders import lifecycle, placing, store
from partner_sandbox.orders.order import Order
from partner_sandbox.portal import forms
from partner_sandbox.portal.forms import Form
from partner_sandbox.portal.frame import Frame, PageRoute, TheFrame, from_this_site
from partner_sandbox.webhooks.tables import webhook

router = APIRouter(dependencies=[Depends(from_this_site)], route_class=PageRoute)
ADVANCE_S_MAX = 366 * 86_400
_MOVES = {"dispatch": lifecycle.dispatch, "pick-up": lifecycle.pick_up}


@router.post("/orders")
async def place(request: Request, frame: TheFrame) -> Response:
    """A customer orders."""
    form = await forms.read(request)
    order = await asyncio.to_thread(_place, frame, form)
    return _to(f"/portal/orders/{order.order_id}?{urlencode({'chain': order.chain})}")


@router.post("/orders/{order_id}/{move}")
async def move(request: Request, frame: TheFrame, order_id: str, move: str) -> Response:
    """Customer, logistics or rider do something with an order."""
    form = await forms.read(request)
    if move == "cancel":
        by = "LOGISTICS" if form.text("by") == "LOGISTICS" else "CUSTOMER"
        await asyncio.to_thread(lifecycle.cancel, frame.sandbox, order_id, by, form.text("reason") or "CHANGED_MIND")
    elif move in _MOVES:
        await asyncio.to_thread(_MOVES[move], frame.sandbox, order_id)
    else:
        raise not_found("Action")
    return _to(form.back(f"/portal/orders/{order_id}"))


@router.post("/webhooks")
async def put_webhook(request: Request, frame: TheFrame) -> Response:
    """Where events go; a secret that is left empty stays as it is."""
    form = await forms.read(request)
    urls = {name: _url(form, name) for name in ("catalog_url", "order_url")}
    with frame.sandbox.storage.begin() as connection:
        known = connection.execute(select(webhook).where(webhook.c.chain == frame.chain)).one_or_none()
        secret = None if form.ticked("forget") else (form.text("secret") or (known.secret if known else None))
        row = {"chain": frame.chain, **urls, "secret": secret}
        connection.execute(webhook.insert().prefix_with("OR REPLACE").values(row))
    return _to(form.back("/portal/webhooks"))


@router.post("/faults")
async def add_fault(request: Request, frame: TheFrame) -> Response:
    """One more fault; all begin to count anew."""
    form = await forms.read(request)
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
    """No faults any more."""
    form = await forms.read(request)
    frame.sandbox.faults.clear()
    return _to(form.back("/portal/faults"))


@router.post("/clock")
async def advance(request: Request, frame: TheFrame) -> Response:
    """Moves the clock; what falls due on the way is done before the page comes back."""
    form = await forms.read(request)
    seconds = form.number("seconds") or 0.0
    if not 0 <= seconds <= ADVANCE_S_MAX:
        raise invalid("seconds", f"must be from 0 to {ADVANCE_S_MAX}")
    await frame.sandbox.work.advance(seconds)
    return _to(form.back("/portal"))


def _place(frame: Frame, form: Form) -> Order:
    with frame.sandbox.storage.begin() as connection:
        vendor = store.vendor_of(connection, frame.chain, form.text("vendor"))
    if vendor is None:
        raise not_found("Vendor")
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
        raise bodies.refusal(error) from None
    return placing.place(frame.sandbox, vendor, wanted)


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text.replace(",", "."))
    except ArithmeticError:
        raise invalid("quantity", f"must be a number, not {text[:40]!r}") from None


def _url(form: Form, name: str) -> str | None:
    url = form.text(name)
    if url and not url.startswith(("http://", "https://")):
        raise invalid(name, "must begin with http:// or https://")
    return url or None


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
        raise bodies.refusal(error) from None


def _to(path: str) -> RedirectResponse:
    return RedirectResponse(path, 303)
