"""`holds` and `rejections`: what waits for the operator, and the operator's decision."""

from __future__ import annotations

import datetime as dt
import json
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shelfsync import display
from shelfsync.cli.acting_user import user_or
from shelfsync.cli.command import (
    Answer,
    OneVendor,
    Reason,
    User,
    Vendor,
    Vendors,
    Yes,
    command,
    confirm,
    opened,
    subgroup,
)
from shelfsync.cli.times import read_duration
from shelfsync.decisions.state import Place
from shelfsync.errors import DataError

if TYPE_CHECKING:
    from shelfsync.context import Context

holds = subgroup("What the guards hold back, and the decision about it.")
rejections = subgroup("SKUs that the platform rejects, and sending one again.")

Number = Annotated[int, typer.Argument(metavar="HOLD", help="Number of the hold.")]
Numbers = Annotated[
    list[int] | None,
    typer.Argument(
        metavar="HOLD",
        help="Numbers of holds; none: all of --rule or --campaign, in every store without --vendor.",
    ),
]
Rule = Annotated[
    str | None,
    typer.Option("--rule", metavar="RULE", help="All open holds of this rule, in every store; needs --reason."),
]
OfCampaign = Annotated[
    str | None, typer.Option("--campaign", metavar="CAMPAIGN", help="All open holds of this campaign; needs --reason.")
]
State = Annotated[
    Literal["open", "held", "approved", "declined", "expired", "superseded", "any"],
    typer.Option(
        "--state",
        help="Only holds of this state; held: open, declined or expired, and still in the ERP. Open and held list all, the others the last 200.",
    ),
]
AsCsv = Annotated[bool, typer.Option("--csv", help="As a CSV for a spreadsheet.")]
Rows = Annotated[int, typer.Option("--limit", metavar="N", min=0, help="How many rows at most; 0: all.")]
Past = Annotated[
    dt.timedelta,
    typer.Option("--duration", metavar="DURATION", parser=read_duration, help="How far back: 90m, 4h, 30d."),
]
Thresholds = Annotated[
    str | None,
    typer.Option(
        "--thresholds", metavar="JSON", help="Other thresholds of the rule, for once: '{\"max_share\": 0.6}'."
    ),
]
RejectedSkus = Annotated[list[str], typer.Argument(metavar="SKU", help="The SKUs.")]


@command(holds, "shelfsync holds list", "shelfsync holds list --state any --json", name="list")
def list_holds(state: State = "open") -> Answer:
    """The holds of the catalog and of promotions that wait for the operator, newest first."""
    from shelfsync.decisions.steps import lists

    with opened() as context:
        held = lists.in_force(context)
        found = held if state == "held" else lists.listed(context, states=() if state == "any" else (state,))
    lines = [
        f"{row['hold_id']:>6}  {row['state']:<10}  {row['subject']:<10}  {row['label']}: {row['message']}"
        for row in found
    ]
    return Answer({"holds": found}, lines or [_none(state, held)])


@command(holds, "shelfsync holds show 12", "shelfsync holds show 12 --limit 0 --json")
def show(number: Number, limit: Rows = 50) -> Answer:
    """One hold with its rows: those whose price moves most come first."""
    from shelfsync.decisions.steps import lists

    with opened() as context:
        found = lists.shown(context, number, rows=limit or None)
    return Answer(found, _lines(found))


@command(
    holds,
    "shelfsync holds approve 12 --reason 'a new pack of ten'",
    "shelfsync holds approve --rule price_change --reason 'the new season'",
)
def approve(
    number: Numbers = None,
    rule: Rule = None,
    campaign: OfCampaign = None,
    vendor: Vendors = None,
    reason: Reason = None,
    user: User = None,
    thresholds: Thresholds = None,
    *,
    yes: Yes = False,
) -> Answer:
    """Show what an approval will do, ask once, and send the changes at once. With --thresholds: only what they let through.

    The rest of a hold is declined then. Several holds at once need a reason.
    """
    from shelfsync.decisions.steps import lists
    from shelfsync.decisions.steps.decide import decide, send
    from shelfsync.decisions.steps.other_thresholds import check_thresholds, reconsider

    given, who = _thresholds(thresholds), user_or(user)
    with opened() as context:
        chosen = _chosen(context, number, rule, campaign, vendor)
        _need_reason(number, chosen, reason)
        if given is not None:
            check_thresholds(context, chosen, given)
        shown = {} if yes else dict.fromkeys(chosen, "")  # no mark: a hold reopened after the question was not in it
        if not yes and (waiting := lists.undecided(context, chosen)):
            question = lists.asked(context, waiting, given)
            confirm(question["lines"], f"Approve {_holds(waiting)}, and send these changes?")
            shown |= question["marks"]
        results = [
            decide(context, hold_id, approve=True, who=who, place=Place.COMMAND, why=reason, shown=shown.get(hold_id))
            if given is None
            else reconsider(context, hold_id, given, who=who, place=Place.COMMAND, why=reason, shown=shown.get(hold_id))
            for hold_id in chosen
        ]
        sent = send(context, [one["hold"] for one in results if one["state"] == "approved"])
    lines = [one["line"] for one in results]
    return Answer({"holds": results, **sent}, [*lines, *sent["lines"]], _unless("approved", results))


@command(
    holds,
    "shelfsync holds decline 12 --reason 'a slipped decimal point'",
    "shelfsync holds decline --rule shifted_decimal --vendor store-001 --user ada",
)
def decline(
    number: Numbers = None,
    rule: Rule = None,
    campaign: OfCampaign = None,
    vendor: Vendors = None,
    reason: Reason = None,
    user: User = None,
) -> Answer:
    """Decline holds: their values stay held until the ERP has other values. The first decision stands, wherever it was taken."""
    from shelfsync.decisions.steps.decide import decide

    with opened() as context:
        results = [
            decide(context, hold_id, approve=False, who=user_or(user), place=Place.COMMAND, why=reason)
            for hold_id in _chosen(context, number, rule, campaign, vendor)
        ]
    return Answer({"holds": results}, [one["line"] for one in results], _unless("declined", results))


@command(
    holds,
    "shelfsync holds reopen 12 --reason 'the price list was right after all'",
    "shelfsync holds reopen 12 --reason 'ask the buyers again' --user ada",
)
def reopen(number: Number, reason: Reason = None, user: User = None) -> Answer:
    """Open a declined or expired hold again, to be decided anew; needs --reason. What is approved is sent, and stays so."""
    from shelfsync.decisions.steps.decide import reopen as reopen_hold

    with opened() as context:
        result = reopen_hold(context, number, who=user_or(user), place=Place.COMMAND, why=reason)
    return Answer(result, [result["line"]], None if result["decided"] else DataError(result["line"]))


@command(holds, "shelfsync holds backtest", "shelfsync holds backtest --duration 14d --vendor store-001")
def backtest(vendor: Vendors = None, duration: Past = "30d") -> Answer:  # type: ignore[assignment] # typer parses it
    """What the guards would have held in past runs with the thresholds of today. It holds and sends nothing."""
    from shelfsync.catalog.steps.backtest import backtest as run_backtest

    with opened(read_only=True) as context:
        result = run_backtest(context, names=tuple(vendor or ()), days=duration / dt.timedelta(days=1))
    return Answer(result, result.pop("lines"))


@command(
    rejections,
    "shelfsync rejections list",
    "shelfsync rejections list --vendor store-001 --json",
    "shelfsync rejections list --csv",
    name="list",
)
def list_rejections(vendor: OneVendor = None, limit: Rows = 200, csv: AsCsv = False) -> Answer:
    """What the platform rejects, since when, when it is tried again, and what to do about it (warehouse.rejection).

    --csv has every rejection, whatever --limit, with the same columns as the file of the page Rejections: the ERP's, under its names, and field, value, code, reason and action.
    """
    from shelfsync.catalog.steps import rejection_file
    from shelfsync.catalog.steps.rejected_skus import listed
    from shelfsync.spreadsheet import csv_text

    with opened() as context:
        if csv:
            asked = {} if vendor is None else {"vendor": vendor}
            rows = list(chain.from_iterable(rejection_file.pages(context, asked)))
            names = rejection_file.names(context)
            return Answer({"columns": names, "rows": rows}, [], file=csv_text([names, *rows]))
        result = listed(context, vendor, limit or None)
    return Answer(result, result.pop("lines"))


@command(rejections, "shelfsync rejections release store-001 4711", "shelfsync rejections release store-001 4711 4712")
def release(vendor: Vendor, sku: RejectedSkus) -> Answer:
    """Let the next run send rejected SKUs of a vendor again, once."""
    from shelfsync.catalog.steps.rejected_skus import release as release_rejected

    with opened() as context:
        result = release_rejected(context, vendor, sku)
    return Answer(result, result.pop("lines"))


def _none(state: str, held: list[dict[str, Any]]) -> str:
    """The line of an empty list; what a decided hold keeps back is held all the same."""
    if state != "open":
        return "there is no hold" if state == "any" else f"no hold is {state}"
    rest = f"; {len(held)} declined or expired ones keep their changes back (`shelfsync holds list --state held`)"
    return "no hold waits for a decision" + (rest if held else "")


def _chosen(
    context: Context, numbers: list[int] | None, rule: str | None, campaign: str | None, vendors: list[str] | None
) -> list[int]:
    from shelfsync.decisions.steps import lists

    together = rule is not None or campaign is not None
    if numbers and not together and not vendors:
        return lists.known(context, numbers)
    if together and not numbers:
        return lists.open_of(context, rule=rule, campaign=campaign, vendors=vendors or ())
    raise typer.BadParameter(
        "name holds by number, or all open ones of a rule by --rule, of a campaign by --campaign, only of a vendor by --vendor"
    )


def _need_reason(numbers: list[int] | None, chosen: list[int], reason: str | None) -> None:
    if (not numbers or len(chosen) > 1) and not (reason or "").strip():
        raise typer.BadParameter("an approval of several holds at once needs a reason", param_hint="--reason")


def _holds(numbers: list[int]) -> str:
    return f"hold {numbers[0]}" if len(numbers) == 1 else f"{len(numbers)} holds"


def _unless(state: str, results: list[dict[str, Any]]) -> DataError | None:
    """The error of the decisions that came too late."""
    late = [one["line"] for one in results if one["state"] != state]
    return DataError("; ".join(late)) if late else None


def _thresholds(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        read = json.loads(text)
    except ValueError:
        read = None
    if not isinstance(read, dict):
        raise DataError(f"--thresholds: {text!r} is no JSON object; write '{{\"max_share\": 0.6}}'")
    return read


def _decision(decision: dict[str, Any]) -> str:
    """One act about a hold as a line."""
    thresholds = f" with the thresholds {decision['thresholds']} for this once" if decision["thresholds"] else ""
    reason = f": {decision['why']}" if decision["why"] else ""
    state = "reopened" if decision["state"] == "open" else decision["state"]
    what = f"{display.instant(decision['decided_at'])}  {state} by {decision['decided_by']} ({decision['place']}){thresholds}{reason}"
    return f"{what}; too late: {decision['ignored']}" if decision["ignored"] else what


def _lines(found: dict[str, Any]) -> list[str]:
    head = [
        f"hold {found['hold_id']}: {found['label']}, {found['state']}"
        + (f" by {found['decided_by']}" if found["decided_by"] else ""),
        found["message"],
        f"thresholds: {found['thresholds']}",
        *(_decision(decision) for decision in found["decisions"]),
        "",
    ]
    for row in found["rows_shown"]:
        facts = [str(row[name]) for name in found["facts"]]
        changes = [
            f"{name} {display.value(name, row[f'{name}_before'])} -> {display.value(name, row[name])}"
            for name in found["values"]
            if row[name] is not None
        ]
        head.append("  ".join(["", display.product(row["sku"], row["name"]), *facts, ", ".join(changes)]))
    more = found["rows"] - len(found["rows_shown"])
    return [*head, f"  and {more} more (--limit 0 shows all)"] if more else head
