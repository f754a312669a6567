"""The holds of the guards, the rows of each hold, and the decision about it."""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import HTTPException, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.status import HTTP_400_BAD_REQUEST, HTTP_404_NOT_FOUND, HTTP_409_CONFLICT

from shelfsync.decisions.held_row_order import ORDERS
from shelfsync.decisions.ledger.holds import HOLDS as EVERY
from shelfsync.decisions.rule_name import rule_name, rule_of_name
from shelfsync.decisions.state import HoldState, Place
from shelfsync.decisions.steps import lists
from shelfsync.decisions.steps.decide import decide
from shelfsync.decisions.steps.decide import reopen as reopen_hold
from shelfsync.decisions.steps.other_thresholds import reconsider as reconsider_hold
from shelfsync.errors import DataError
from shelfsync.pages.confirmation import confirmation
from shelfsync.pages.form import Form, newest_shown
from shelfsync.pages.lists import Asked, Field, category_field, list_file, list_values
from shelfsync.pages.rights import Decider
from shelfsync.pages.rows_file import ROWS as ROWS_OF_FILE
from shelfsync.pages.rows_file import rows_file
from shelfsync.pages.shell import THRESHOLD, First, Number, Page, Text, context, lead_to, sentence, show, threshold

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HOLDS = Page(
    "/holds",
    "Holds",
    (
        "catalog_full_sync",
        "catalog_delta_sync",
        "catalog_holds",
        "catalog_recover",
        "promotions_sync",
        "promotions_recover",
    ),
)

ROWS = 500
"""Rows a page."""
LATE_SHOWN = 10
"""How many late decisions a page names."""
_FIELDS = (
    Field("state", "state", {state: state for state in map(str, HoldState)}),
    Field("subject", "of", {"catalog": "products", "promotions": "promotions"}),
    Field("vendor", "store"),
    Field("rule", "rule"),
    Field("campaign", "campaign"),
)


@HOLDS.router.get("/holds")
def holds(request: Request) -> HTMLResponse:
    """The same as `shelfsync holds list --state any`: the open holds first, whatever their number."""
    values = list_values(request, EVERY, HOLDS.path, _FIELDS, instead=_rule_asked(request))
    by_rule = lists.open_by_rule(context(request))
    return show(request, "holds.html", title="Holds", by_rule=by_rule, **values)


@HOLDS.router.get("/holds.csv")
def holds_file(request: Request) -> StreamingResponse:
    """All holds that the page has with this filter."""
    return list_file(request, EVERY, "holds.csv", **_rule_asked(request))


def _rule_asked(request: Request) -> dict[str, str]:
    """The rule that the filter names, as a page calls it or by its own name."""
    name = request.query_params.get("rule", "")
    return {"rule": rule_of_name(name)} if name else {}


@HOLDS.router.post("/holds/rules/{rule}/approve")
def approve_rule(request: Request, rule: str, person: Decider, form: Form) -> Response:
    """Approves the open holds of a rule that the page showed, after a confirmation; the schedule sends them."""
    app, reason = context(request), _reason_for_many(form)
    numbers = _of_rule(request, rule, form)
    question = lists.asked(app, numbers)
    title = f"Approve {len(numbers)} holds of rule {rule_name(rule)}?"
    asked = confirmation(request, form, question, title=title, action=f"/holds/rules/{rule}/approve", back="/holds")
    if asked is not None:
        return asked
    marks = question["marks"]
    return _decided_all(
        request,
        [
            decide(app, one, approve=True, who=person.name, place=Place.PAGE, why=reason, shown=marks[one])
            for one in numbers
        ],
    )


@HOLDS.router.post("/holds/rules/{rule}/decline")
def decline_rule(request: Request, rule: str, person: Decider, form: Form) -> Response:
    """Declines the open holds of a rule that the page showed."""
    app, reason = context(request), form.get("reason")
    numbers = _of_rule(request, rule, form)
    return _decided_all(
        request, [decide(app, one, approve=False, who=person.name, place=Place.PAGE, why=reason) for one in numbers]
    )


@HOLDS.router.get("/holds/{number}")
def hold(
    request: Request, number: Number, first: First = 0, order: Text = ORDERS[0], category: Text = "", sku: Text = ""
) -> HTMLResponse:
    """One hold with its rows, or those of a category or of some SKUs, 500 a page. The largest price changes come first, unless the address asks for another order."""
    with _errors(order):
        found = lists.shown(
            context(request), number, first=first, rows=ROWS + 1, order=order, category=category, sku=sku
        )
    after = first + ROWS if len(found["rows_shown"]) > ROWS else None
    known = lists.categories(context(request), found)
    kept = {name: text for name, text in (("category", category), ("sku", sku)) if text}
    return show(
        request,
        "hold.html",
        title=f"Hold {number}",
        of_store=found["vendor"] or None,
        hold={**found, "rows_shown": found["rows_shown"][:ROWS]},
        first=first,
        next=urlencode({"first": after, "order": order, **kept}) if after else "",
        sorted_by=[(name, urlencode({"order": name, **kept}), name == order) for name in ORDERS],
        path=f"/holds/{number}",
        asked=Asked(kept, "", []),
        fields=(Field("sku", "SKU begins with"), *((category_field(known, category),) if known else ())),
        hidden={"order": order},
        file_query=urlencode({"order": order, **kept}),
    )


@HOLDS.router.get("/holds/{number}/rows.csv")
def hold_rows(
    request: Request, number: Number, order: Text = ORDERS[0], category: Text = "", sku: Text = ""
) -> StreamingResponse:
    """All rows of a hold, or those of a category or of some SKUs, in this order: for each value the one before and the ERP's."""
    app = context(request)
    with _errors(order):
        names, parts = lists.every_row(app, number, order=order, category=category, sku=sku, most=ROWS_OF_FILE)
    return rows_file(app, names, parts, f"hold-{number}.csv")


@contextlib.contextmanager
def _errors(order: str) -> Iterator[None]:
    """The answer 404 for a hold or an order that does not exist."""
    if order not in ORDERS:
        raise HTTPException(HTTP_404_NOT_FOUND, f"A hold has no order {order!r}. Choose one of {', '.join(ORDERS)}.")
    try:
        yield
    except DataError as error:
        raise HTTPException(HTTP_404_NOT_FOUND, sentence(error)) from None


@HOLDS.router.post("/holds/{number}/approve")
def approve(request: Request, number: Number, person: Decider, form: Form) -> Response:
    """Approves a hold after a confirmation; the schedule (DAG catalog_recover) sends it."""
    app, shown = context(request), ""
    if lists.undecided(app, [number]):
        question = lists.asked(app, [number])
        action, back = f"/holds/{number}/approve", f"/holds/{number}"
        asked = confirmation(request, form, question, title=f"Approve hold {number}?", action=action, back=back)
        if asked is not None:
            return asked
        shown = question["marks"][number]
    result = decide(app, number, approve=True, who=person.name, place=Place.PAGE, why=form.get("reason"), shown=shown)
    return _decided(request, number, result)


@HOLDS.router.post("/holds/{number}/reopen")
def reopen(request: Request, number: Number, person: Decider, form: Form) -> RedirectResponse:
    """Opens a declined or expired hold again, with a reason."""
    try:
        result = reopen_hold(context(request), number, who=person.name, place=Place.PAGE, why=form.get("reason"))
    except DataError as error:
        raise HTTPException(HTTP_400_BAD_REQUEST, sentence(error)) from None
    return _decided(request, number, result)


@HOLDS.router.post("/holds/{number}/decline")
def decline(request: Request, number: Number, person: Decider, form: Form) -> RedirectResponse:
    """Declines a hold: it stays held until the ERP has other values."""
    result = decide(context(request), number, approve=False, who=person.name, place=Place.PAGE, why=form.get("reason"))
    return _decided(request, number, result)


@HOLDS.router.post("/holds/{number}/reconsider")
def reconsider(request: Request, number: Number, person: Decider, form: Form) -> Response:
    """Approves what these thresholds let through, for this once, after a confirmation, and declines the rest."""
    app, shown = context(request), ""
    given = {
        name.removeprefix(THRESHOLD): text for name, text in form.items() if name.startswith(THRESHOLD) and text.strip()
    }
    thresholds = {name: _number(name, text.strip()) for name, text in given.items()}
    try:
        if lists.undecided(app, [number]):
            question = lists.asked(app, [number], thresholds)
            question["lines"].append("the rest of the hold is declined")
            action, back = f"/holds/{number}/reconsider", f"/holds/{number}"
            title = f"Approve what these thresholds let through of hold {number}?"
            asked = confirmation(request, form, question, title=title, action=action, back=back)
            if asked is not None:
                return asked
            shown = question["marks"][number]
        result = reconsider_hold(
            app, number, thresholds, who=person.name, place=Place.PAGE, why=form.get("reason"), shown=shown
        )
    except DataError as error:
        raise HTTPException(HTTP_400_BAD_REQUEST, sentence(error)) from None
    return _decided(request, number, result)


def _of_rule(request: Request, rule: str, form: dict[str, str]) -> list[int]:
    """The open holds of a rule that the page showed. 409: there is none any more."""
    try:
        return lists.open_of(context(request), rule=rule, newest=newest_shown(form))
    except DataError as error:
        raise HTTPException(HTTP_409_CONFLICT, f"Nothing was decided: {sentence(error)}") from None


def _decided_all(request: Request, results: list[dict[str, Any]]) -> RedirectResponse:
    """Leads back to the list. 409 names the decisions that came too late; the others are done."""
    late = [one["line"] for one in results if not one["decided"]]
    if late:
        others = f"{len(results) - len(late)} of {len(results)} holds were decided. "
        raise HTTPException(HTTP_409_CONFLICT, others + "; ".join(late[:LATE_SHOWN]))
    return lead_to(request, "/holds")


def _decided(request: Request, number: int, result: dict[str, Any]) -> RedirectResponse:
    """Leads back to the hold. A decision that came too late is a 409."""
    if not result["decided"]:
        raise HTTPException(HTTP_409_CONFLICT, f"Nothing was decided: {result['line']}")
    return lead_to(request, f"/holds/{number}")


def _number(name: str, text: str) -> float:
    """A threshold as the operator types it. 400 for anything but a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise HTTPException(HTTP_400_BAD_REQUEST, f"{threshold(name)}: {text!r} is no number; nothing was decided")
    return int(value) if value.is_integer() else value


def _reason_for_many(form: Mapping[str, str]) -> str:
    """The reason of an approval of several holds at once; 400 without one."""
    reason = form.get("reason", "").strip()
    if not reason:
        raise HTTPException(
            HTTP_400_BAD_REQUEST, "an approval of several holds at once needs a reason; nothing was done"
        )
    return reason
