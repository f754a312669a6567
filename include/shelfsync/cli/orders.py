"""`shelfsync orders list|show|accept|fulfil|cancel|retry|forget|secret`."""

from __future__ import annotations

import uuid
from pathlib import Path  # noqa: TC003  typer reads annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shelfsync.cli.house import house
from shelfsync.cli.options import AsJson  # noqa: TC001  typer reads annotations
from shelfsync.cli.output import print_told
from shelfsync.errors import DataError

if TYPE_CHECKING:
    from shelfsync.wiring import House

app = typer.Typer(help="Customers' orders: look at them, and say what a store would say.", no_args_is_help=True)

FORGET_LENGTH_MIN = 4
"""Fewer characters would be found in too many customers."""

_IN_VAIN = frozenset({"checked", "refused", "overtaken"})
"""Ends of a result that changed nothing: the same may end otherwise by now."""

Order = Annotated[str, typer.Argument(metavar="ORDER", help="order_id, external number, or the short code.")]


@app.command("list")
def list_orders(
    vendor: Annotated[str | None, typer.Option("--vendor", "-v", help="Only this store's.")] = None,
    only_open: Annotated[bool, typer.Option("--open", help="Only those that are still to be picked.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many.")] = 50,
    as_json: AsJson = False,
) -> None:
    """The last orders, newest first. Nothing in it tells who a customer is."""
    with house() as opened:
        rows = opened.orders.orders(vendor=vendor, only_open=only_open, limit=limit)
    print_told({"orders": rows}, as_json, [_line(row) for row in rows] or ["no order is known"])


@app.command()
def show(order: Order, as_json: AsJson = False) -> None:
    """One order: its items, what was told of it, what the store was handed and what it said."""
    with house() as opened:
        told = _found(opened, order)
    lines = [_line(told), "", *(_item(item) for item in told["lines"])]
    lines += ["", *(f"{one['seen_at']:%H:%M:%S} {one['source']}: {one['status']}" for one in told["versions"])]
    lines += [f"handed over: {one['kind']} {one['state']}{_why(one['error'])}" for one in told["hand_overs"]]
    for one in told["results"]:
        lines.append(f"result {one['result_id']}: {one['action']} {one['state']}{_why(one['error'])}")
        lines += [f"  {message}" for message in one["messages"]]
        lines += _feedback(one["feedback"])
    print_told(told, as_json, lines)


@app.command()
def accept(
    order: Order,
    at: Annotated[
        str, typer.Option("--for", metavar="TIME", help="When it will be with the customer: 2026-03-01T18:30:00Z.")
    ],
    as_json: AsJson = False,
) -> None:
    """Accept an order that the store delivers itself."""
    _say(order, {"action": "accept", "accepted_for": at}, as_json)


@app.command()
def fulfil(
    order: Order,
    result: Annotated[
        Path | None,
        typer.Option("--result", dir_okay=False, exists=True, help="A picking result as JSON (docs/orders.md)."),
    ] = None,
    as_ordered: Annotated[bool, typer.Option("--as-ordered", help="Everything was picked as it was ordered.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Only ask the platform what it would say (UPDATE_CART).")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what was picked. Every rule of the platform is checked here first."""
    if (result is None) == (not as_ordered):
        raise typer.BadParameter("say --result FILE or --as-ordered", param_hint="--result")
    raw: dict[str, Any] = {}
    if result is not None:
        from partner_api import reading

        raw = reading.mapping(reading.json_or_none(result.read_bytes()))
        if not raw:
            raise DataError(f"{result}: is no JSON object. docs/orders.md shows a picking result.")
    _say(order, raw | {"action": "check" if check else "fulfil"}, as_json, as_ordered=as_ordered)


@app.command()
def cancel(
    order: Order,
    reason: Annotated[str, typer.Option("--reason", help="CLOSED, ITEM_UNAVAILABLE or TOO_BUSY.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Cancel an order. Nothing of ours ever does this by itself."""
    if not yes:
        typer.confirm(f"Cancel order {order} ({reason}) for good?", abort=True, err=True)
    _say(order, {"action": "cancel", "reason": reason}, as_json)


@app.command()
def retry(order: Order, as_json: AsJson = False) -> None:
    """Have the picking results of this order that are set aside worked on again, after what stood in their way was repaired."""
    with house() as opened:
        known = opened.orders.order(order)
        order_id = known["order_id"] if known else order
        retried = opened.orders.retry(order_id)
        opened.orders.fulfil([order_id])
        results = opened.orders.results(order_id)
    lines = [f"order {order}: {retried} results are worked on again"]
    lines += [f"result {one['result_id']}: {one['action']} {one['state']}{_why(one['error'])}" for one in results]
    print_told({"order_id": order_id, "retried": retried, "results": results}, as_json, lines)
    if any(one["state"] == "set_aside" for one in results):
        raise typer.Exit(2)


@app.command()
def forget(
    order: Annotated[
        list[str] | None, typer.Argument(metavar="ORDER...", help="order_id, external number, or the short code.")
    ] = None,
    customer: Annotated[
        str | None,
        typer.Option("--customer", metavar="TEXT", help="All orders whose customer data hold it: a phone number, say."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove for good whatever tells who a customer is: shelfsync orders forget --customer +447700900123."""
    if not order and customer is None:
        raise typer.BadParameter("name orders, or --customer TEXT", param_hint="ORDER")
    if customer is not None and len(customer.strip()) < FORGET_LENGTH_MIN:
        raise typer.BadParameter(f"give at least {FORGET_LENGTH_MIN} characters", param_hint="--customer")
    with house() as opened:
        opened.orders.take()
        ids = [_found(opened, name)["order_id"] for name in order or ()]
        ids += opened.orders.orders_of(customer) if customer is not None else []
        if not ids:
            raise DataError("no order has such a customer: nothing was removed")
        if not yes:
            typer.confirm(
                f"Forget the customers of {len(set(ids))} orders for good ({', '.join(ids)})?", abort=True, err=True
            )
        told = opened.orders.forget(ids)
    stripped = f"{told['events']} events and {told['documents']} documents of the hand-over stripped"
    lines = [
        f"{len(told['orders'])} orders: {told['customers']} customers forgotten, {stripped}",
        *(f"store {vendor} has been handed the order: ask it to erase what it keeps" for vendor in told["stores"]),
    ]
    print_told(told, as_json, lines)


@app.command()
def secret(
    vendor: Annotated[str, typer.Argument(metavar="VENDOR", help="The store.")], as_json: AsJson = False
) -> None:
    """Show what a store sends in the Authorization header of POST /picking: shelfsync orders secret store-001."""
    with house() as opened:
        told = {"vendor": vendor, "secret": opened.orders.secret(vendor)}
    print_told(told, as_json, [told["secret"]])


def _say(name: str, raw: dict[str, Any], as_json: bool, *, as_ordered: bool = False) -> None:
    """Stores the result, goes on with it once, and tells how far it is.

    Without a name of its own its content is its name, so that what is done or under way is not done twice; what ended otherwise was only
    true then, and is said anew.
    """
    from shelfsync.orders.result import UnreadableResultError

    with house() as opened:
        opened.orders.take()
        known = opened.orders.order(name)
        order_id = known["order_id"] if known else name
        if as_ordered:
            items = (known or _found(opened, name))["lines"]
            raw |= {"items": [{"sku": one["sku"], "item_id": one["item_id"], "status": "picked"} for one in items]}
        try:
            word, last = _said(opened, order_id, raw)
            if word == "known" and "result_id" not in raw and last["state"] in _IN_VAIN:
                word, last = _said(opened, order_id, raw | {"result_id": f"cli/{uuid.uuid4()}"})
        except UnreadableResultError as error:
            raise DataError(f"order {name}: {error}. Nothing was sent.") from None
    told = {"order_id": order_id, "stored": word, **last}
    waits = {
        "answered": "the platform said yes; orders_fulfilment makes sure of it",
        "waiting": "not sent yet; orders_fulfilment goes on with it",
        "sending": "no word of the platform yet; orders_fulfilment goes on with it",
    }
    lines = [
        f"order {name}: {last['action']} {last['state']}{_why(last['error'] or waits.get(last['state']))}",
        *last["messages"],
        *_feedback(last["feedback"]),
    ]
    print_told(told, as_json, lines)
    if last["state"] in {"refused", "overtaken"}:
        raise typer.Exit(DataError.exit_code)


def _said(opened: House, order_id: str, raw: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """(new or known, what became of this very result). DataError: its name stands for another content, and nothing was stored."""
    from shelfsync.orders.result import read

    result = read(order_id, raw)
    word = opened.orders.say(order_id, raw)
    if word == "other":
        raise DataError(
            f"order {order_id}: result_id {result.result_id!r} stands for another content, and nothing was stored. "
            "A correction needs a result_id of its own."
        )
    opened.orders.fulfil([result.order_id])
    results = opened.orders.results(result.order_id)
    return word, next(one for one in results if one["result_id"] == result.result_id)


def _found(opened: House, name: str) -> dict[str, Any]:
    told = opened.orders.order(name)
    if told is None:
        raise DataError(
            f"order {name!r} is not known. Events that wait are applied by orders_fulfilment; the history by orders_history."
        )
    return told


def _line(row: dict[str, Any]) -> str:
    placed = f"{row['placed_at']:%Y-%m-%d %H:%M}" if row["placed_at"] else "-"
    result = f", {row['result']} {row['result_state']}" if row["result"] else ""
    given = f", store: {row['handed_over']}" if row["handed_over"] else ""
    kind = " ".join(str(word).lower().replace("_", " ") for word in (row["transport_type"], row["order_type"]) if word)
    return f"{placed}  {row['vendor']}  {row['order_code'] or '-'}  {row['order_id']}  {row['status']}  {kind}{given}{result}"


def _item(item: dict[str, Any]) -> str:
    amount = f"{item['weight']} kg" if item["weight"] is not None else f"{item['quantity']} x"
    return f"  {amount} {item['sku']} {item['name'] or ''}: {item['status']}, {item['total_price']}"


def _feedback(told: dict[str, Any] | None) -> list[str]:
    """What UPDATE_CART answered; its totals are those of before (interface.md 4.8.9)."""
    if not told:
        return []
    return ["the platform would make of it:", *(_item({"name": None, **item}) for item in told["items"])]


def _why(error: str | None) -> str:
    return f" ({error})" if error else ""
