"""`orders …`: customers' orders, and the results that a store would report."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shelfsync import display
from shelfsync.cli.command import Answer, DryRun, Force, Limit, OneVendor, Vendor, command, opened, subgroup
from shelfsync.cli.times import read_instant
from shelfsync.errors import DataError, PartlyFailedError

if TYPE_CHECKING:
    from shelfsync.context import Context

app = subgroup("Customers' orders: look at them, and report what a store would report.")

_NOTHING_CHANGED = frozenset({"checked", "rejected", "overtaken"})
"""Final states of a result that changed nothing. If it is reported again, it may end otherwise."""

_NAMES = "order_id, external number, or the short code. If several orders have it, name the order_id."
Order = Annotated[str, typer.Argument(metavar="ORDER", help=_NAMES)]


Delivery = Annotated[
    dt.datetime,
    typer.Option(
        "--at",
        metavar="TIME",
        parser=read_instant,
        help="When the customer receives it: 2026-03-01T18:30 (in SHELFSYNC_TIME_ZONE), or with an offset.",
    ),
]
Picked = Annotated[
    Path | None,
    typer.Option(
        "--result",
        metavar="FILE",
        dir_okay=False,
        exists=True,
        help="A picking result as JSON (docs/how-to/orders.md).",
    ),
]


@command(app, "shelfsync orders list --open", "shelfsync orders list --vendor store-001 --limit 10", name="list")
def list_orders(
    vendor: OneVendor = None,
    only_open: Annotated[bool, typer.Option("--open", help="Only those that are still to be picked.")] = False,
    limit: Limit = 50,
) -> Answer:
    """The last orders, newest first, without personal data."""
    from shelfsync.orders.steps import lists

    with opened() as context:
        rows = lists.orders(context, vendor=vendor, only_open=only_open, limit=limit)
    return Answer({"orders": rows}, [_line(row) for row in rows] or ["there is no order yet"])


@command(app, "shelfsync orders show A7X2", "shelfsync orders show A7X2 --json")
def show(order: Order) -> Answer:
    """One order: its items, every version the platform reported, what the store was handed and what it reported.

    If several orders have this number or code: the newest.
    """
    from shelfsync.orders.steps.find_order import find_order

    with opened() as context:
        found = _known(order, find_order(context, order))
    lines = [_line(found), *_others(order, found), "", *(_item(item) for item in found["lines"])]
    lines.append("")
    for row in found["versions"]:
        lines.append(f"{display.instant(row['seen_at'])} {row['source']}: {row['status']}")
        lines += [f"  {line}" for line in row["not_believed"]]
    lines += [f"handed over: {row['kind']} {row['state']}{_note(row['error'])}" for row in found["hand_overs"]]
    for row in found["results"]:
        lines.append(f"result {row['result_id']}: {row['action']} {row['state']}{_note(row['error'])}")
        lines += [f"  {message}" for message in row["messages"]]
        lines += _feedback(row["feedback"])
    return Answer(found, lines)


@command(
    app,
    "shelfsync orders accept A7X2 --at 2026-03-01T18:30",
    "shelfsync orders accept A7X2 --at 2026-03-01T19:30+01:00 --json",
)
def accept(order: Order, at: Delivery) -> Answer:
    """Accept an order that the store delivers itself."""
    return _report_result(order, {"action": "accept", "accepted_for": f"{at.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%SZ}"})


@command(
    app, "shelfsync orders fulfil A7X2 --as-ordered --dry-run", "shelfsync orders fulfil A7X2 --result picked.json"
)
def fulfil(
    order: Order,
    result: Picked = None,
    as_ordered: Annotated[bool, typer.Option("--as-ordered", help="Every item was picked as ordered.")] = False,
    dry_run: DryRun = False,
) -> Answer:
    """Report what was picked. Every rule of the platform is checked here first.

    With --dry-run: only ask the platform what the order would become (UPDATE_CART).
    """
    if (result is None) == (not as_ordered):
        raise typer.BadParameter("name one of --result FILE and --as-ordered", param_hint="--result")
    raw: dict[str, Any] = {}
    if result is not None:
        from partner_api import json_values

        raw = json_values.mapping(json_values.json_or_none(result.read_bytes()))
        if not raw:
            raise DataError(f"{result}: is no JSON object. docs/how-to/orders.md shows a picking result.")
    if dry_run:
        raw.pop("result_id", None)  # it stays free for the result itself
    return _report_result(order, raw | {"action": "check" if dry_run else "fulfil"}, as_ordered=as_ordered)


@command(app, "shelfsync orders cancel A7X2 --reason TOO_BUSY", "shelfsync orders cancel A7X2 --reason CLOSED --force")
def cancel(
    order: Order,
    reason: Annotated[
        Literal["CLOSED", "ITEM_UNAVAILABLE", "TOO_BUSY"],
        typer.Option("--reason", help="The reason, one of the platform's values."),
    ],
    force: Force = False,
) -> Answer:
    """Cancel an order for good, after a confirmation. shelfsync never does this by itself."""
    question = None if force else f"Cancel order {{}} ({reason}) for good?"
    return _report_result(order, {"action": "cancel", "reason": reason}, question=question)


@command(app, "shelfsync orders retry A7X2", "shelfsync orders retry A7X2 --json")
def retry(order: Order) -> Answer:
    """Process the quarantined picking results of this order again, after their cause was repaired."""
    from shelfsync.orders.steps import lists
    from shelfsync.orders.steps.fulfil import fulfil as process
    from shelfsync.orders.steps.fulfil import retry as release

    with opened() as context:
        known = _only(context, order)
        order_id = known["order_id"] if known else order
        retried = release(context, order_id)
        process(context, [order_id])
        results = lists.results(context, order_id)
    lines = [f"order {order}: {retried} results are processed again"]
    lines += [f"result {row['result_id']}: {row['action']} {row['state']}{_note(row['error'])}" for row in results]
    failed = any(row["state"] == "quarantined" for row in results)
    error = PartlyFailedError(
        f"order {order}: a result is quarantined again; `shelfsync orders show {order}` shows the reason"
    )
    return Answer({"order_id": order_id, "retried": retried, "results": results}, lines, error if failed else None)


@command(app, "shelfsync orders forget A7X2 B1Y9", "shelfsync orders forget --customer +447700900123 --force")
def forget(
    order: Annotated[list[str] | None, typer.Argument(metavar="ORDER", help=_NAMES)] = None,
    customer: Annotated[
        str | None,
        typer.Option(
            "--customer",
            metavar="TEXT",
            help="All orders whose customer data contain it, such as a phone number; spaces, hyphens, brackets and case do not matter. At least 4 characters besides.",
        ),
    ] = None,
    force: Force = False,
) -> Answer:
    """Remove the personal data of customers for good."""
    from shelfsync.orders.customer_removal import LENGTH_MIN, is_long_enough
    from shelfsync.orders.steps import lists
    from shelfsync.orders.steps.forget import forget as forget_customers
    from shelfsync.orders.steps.forget import orders_of
    from shelfsync.orders.steps.take_events import take

    if not order and customer is None:
        raise typer.BadParameter("name orders, or --customer TEXT", param_hint="ORDER")
    if customer is not None and not is_long_enough(customer):
        raise typer.BadParameter(
            f"give at least {LENGTH_MIN} characters besides spaces, hyphens and brackets", param_hint="--customer"
        )
    with opened() as context:
        take(context)
        ids = [_known(name, _only(context, name))["order_id"] for name in order or ()]
        ids += orders_of(context, customer) if customer is not None else []
        if not ids:
            raise DataError("no order has such a customer: nothing was removed")
        if not force:
            named = "; ".join(map(_reference, lists.references(context, ids)))
            typer.confirm(f"Forget the customers of {len(set(ids))} orders for good ({named})?", abort=True, err=True)
        result = forget_customers(context, ids)
    stripped = f"{result['events']} events and {result['documents']} documents of the hand-over stripped"
    lines = [
        f"{len(result['orders'])} orders: {result['customers']} customers forgotten, {stripped}",
        *(f"store {vendor} received the order: ask it to erase its copy" for vendor in result["stores"]),
    ]
    return Answer(result, lines)


@command(app, "shelfsync orders secret store-001", "shelfsync orders secret store-001 --json")
def secret(vendor: Vendor) -> Answer:
    """Show what a store sends in the Authorization header of POST /picking."""
    from shelfsync.receiver.secret import store_secret

    with opened() as context:
        found = {"vendor": vendor, "secret": store_secret(context.settings.orders, vendor)}
    return Answer(found, [found["secret"]])


def _report_result(name: str, raw: dict[str, Any], *, as_ordered: bool = False, question: str | None = None) -> Answer:
    """Stores the result, processes it once, and answers with its state. `question`: what a person confirms before, about the order.

    A result without `result_id` is identified by its content: a result that is done or in progress is not processed twice. If the earlier
    one changed nothing, the result is stored again under a new id.
    """
    from shelfsync.orders.picking_result import UnreadableResultError
    from shelfsync.orders.steps.take_events import take

    with opened() as context:
        take(context)
        known = _only(context, name)
        order_id = known["order_id"] if known else name
        if question is not None:
            typer.confirm(question.format(_reference(known) if known else name), abort=True, err=True)
        if as_ordered:
            items = _known(name, known)["lines"]
            raw |= {"items": [{"sku": row["sku"], "item_id": row["item_id"], "status": "picked"} for row in items]}
        try:
            stored, last = _store(context, order_id, raw)
            if stored == "known" and "result_id" not in raw and last["state"] in _NOTHING_CHANGED:
                stored, last = _store(context, order_id, raw | {"result_id": f"cli/{uuid.uuid4()}"})
        except UnreadableResultError as error:
            raise DataError(f"order {name}: {error}. Nothing was sent.") from None
    result = {"order_id": order_id, "stored": stored, **last}
    waits = {
        "answered": "the platform accepted it; orders_fulfilment checks the order",
        "waiting": "not sent yet; orders_fulfilment sends it",
        "sending": "the platform has not answered yet; orders_fulfilment continues",
    }
    lines = [
        f"order {name}: {last['action']} {last['state']}{_note(last['error'] or waits.get(last['state']))}",
        *last["messages"],
        *_feedback(last["feedback"]),
    ]
    return Answer(result, lines, DataError(lines[0]) if last["state"] in {"rejected", "overtaken"} else None)


def _store(context: Context, order_id: str, raw: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """(new or known, the result's state). DataError: its `result_id` has another content already, and nothing was stored."""
    from shelfsync.orders.picking_result import read
    from shelfsync.orders.steps import lists
    from shelfsync.orders.steps.fulfil import fulfil as process
    from shelfsync.orders.steps.receive import keep

    result = read(order_id, raw)
    stored = keep(context.engine, order_id, raw, "cli")
    if stored == "conflict":
        raise DataError(
            f"order {order_id}: result_id {result.result_id!r} has another content already, and nothing was stored. "
            "A correction needs a result_id of its own."
        )
    process(context, [result.order_id])
    results = lists.results(context, result.order_id)
    return stored, next(row for row in results if row["result_id"] == result.result_id)


def _only(context: Context, name: str) -> dict[str, Any] | None:
    """The order that is to be changed. DataError: several have this name, and the newest need not be the one that is meant."""
    from shelfsync.orders.steps.find_order import find_order

    found = find_order(context, name)
    if found is not None and found["others"]:
        named = "; ".join(_reference(row) for row in (found, *found["others"]))
        raise DataError(f"order {name!r} means several orders, and nothing was changed: name the order_id. {named}")
    return found


def _known(name: str, found: dict[str, Any] | None) -> dict[str, Any]:
    if found is None:
        raise DataError(
            f"order {name!r} is not known. orders_fulfilment applies waiting events; orders_history reads the platform's history."
        )
    return found


def _others(name: str, found: dict[str, Any]) -> list[str]:
    """What `show` says of further orders of the same name."""
    others = found["others"]
    return [f"{name} also means:", *(f"  {_reference(row)}" for row in others)] if others else []


def _reference(row: dict[str, Any]) -> str:
    placed = display.minute(row["placed_at"]) if row["placed_at"] else "at an unknown time"
    return f"{row['order_id']} of store {row['vendor'] or '-'}, placed {placed}"


def _line(row: dict[str, Any]) -> str:
    placed = display.minute(row["placed_at"]) if row["placed_at"] else "-"
    result = f", {row['result']} {row['result_state']}" if row["result"] else ""
    given = f", store: {row['handed_over']}" if row["handed_over"] else ""
    odd = ", a time of it is not believed" if row["has_odd_time"] else ""
    kind = " ".join(str(part).lower().replace("_", " ") for part in (row["transport_type"], row["order_type"]) if part)
    return f"{placed}  {row['vendor']}  {row['order_code'] or '-'}  {row['order_id']}  {row['status']}  {kind}{given}{result}{odd}"


def _item(item: dict[str, Any]) -> str:
    amount = f"{item['weight']} kg" if item["weight"] is not None else f"{item['quantity']} x"
    price = "no price" if item["total_price"] is None else display.price(Decimal(item["total_price"]))
    return f"  {amount} {display.product(item['sku'], item.get('name'))}: {item['status']}, {price}"


def _feedback(feedback: dict[str, Any] | None) -> list[str]:
    """The platform's answer to UPDATE_CART; its totals are the earlier ones (interface.md 4.8.9)."""
    if not feedback:
        return []
    return ["the order would become:", *(_item(item) for item in feedback["items"])]


def _note(error: str | None) -> str:
    return f" ({error})" if error else ""
