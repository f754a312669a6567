"""`promotions …`: the promotions' path without Airflow, and the decision about their holds."""

from __future__ import annotations

import shlex
import uuid
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shelfsync import display
from shelfsync.cli.command import (
    Answer,
    Limit,
    Reason,
    User,
    Yes,
    command,
    confirm,
    of_platform,
    opened,
    progress,
    user_or,
)
from shelfsync.cli.sync import failures, partly, summed
from shelfsync.errors import ShelfsyncError

if TYPE_CHECKING:
    from shelfsync.context import Context
    from shelfsync.promotions.ledger.holds import Chosen

app = typer.Typer(
    help="Promotions: make the platform equal to the ERP, and show the state of each.", no_args_is_help=True
)

Campaign = Annotated[
    str | None,
    typer.Argument(
        metavar="[CAMPAIGN]", help="The campaign; * for many that end at once; none: all that --rule holds."
    ),
]
OfState = Annotated[
    Literal["new", "upcoming", "running", "over", "ended", "failed"] | None,
    typer.Option("--state", help="Only promotions of this state."),
]
OfVendor = Annotated[
    str | None,
    typer.Option("--vendor", metavar="VENDOR", callback=of_platform, help="Only promotions of this vendor."),
]
OfCampaign = Annotated[
    str | None,
    typer.Option("--campaign", metavar="TEXT", help="Only promotions with this text in their campaign or name."),
]
OfSku = Annotated[str | None, typer.Option("--sku", metavar="SKU", help="Only promotions with this SKU.")]
Problems = Annotated[bool, typer.Option("--problems", help="Only failed, rejected and unconfirmed promotions.")]
Rule = Annotated[
    str | None, typer.Option("--rule", metavar="RULE", help="Only what this rule holds; not what was declined.")
]


@command(app, "shelfsync promotions plan", "shelfsync promotions plan --json")
def plan() -> Answer:
    """Show what a sync would create, change and end. It sends nothing."""
    return _run(dry_run=True)


@command(app, "shelfsync promotions sync", "shelfsync promotions sync --verbose")
def sync() -> Answer:
    """Make the platform's promotions equal to the ERP's, and wait for the result of every SKU."""
    return _run(dry_run=False)


@command(app, "shelfsync promotions status", "shelfsync promotions status --problems --json")
def status(
    state: OfState = None,
    vendor: OfVendor = None,
    campaign: OfCampaign = None,
    sku: OfSku = None,
    problems: Problems = False,
    limit: Limit = 500,
) -> Answer:
    """Every promotion of the last days, problems first; what is held, declined, quarantined, rejected, and does not fit the catalog."""
    from shelfsync.promotions.steps.report import rejection_lines
    from shelfsync.promotions.steps.status import status as read_status

    with opened() as context:
        result = read_status(
            context, state=state, vendor=vendor, campaign=campaign, sku=sku, problems=problems, rows=limit
        )
    lines = [
        f"{row['state']:9} {row['campaign']} ({row['name']}): {row['skus']} SKUs at {len(row['vendors'])} vendors,"
        f" {display.span(row['start_time'], row['end_time'])}"
        + (f", {row['in_flight']} requests in flight" if row["in_flight"] else "")
        + (f", {row['rejected']} pairs rejected" if row["rejected"] else "")
        + (f", {row['doubtful']} SKUs unconfirmed" if row["doubtful"] else "")
        for row in result["promotions"]
    ]
    if more := result["promotions_found"] - len(lines):
        lines.append(f"… and {more:,} more promotions: --limit shows them, the other options choose")
    lines += [result["waiting"]["line"]] if result["waiting"] else []
    lines += [
        f"held by rule {row['rule']}: {row['skus']} SKUs in {row['campaigns']} campaigns at {row['vendors']} vendors; decide them together by"
        f" `shelfsync promotions approve --rule {row['rule']} --reason TEXT` or `shelfsync promotions decline --rule {row['rule']}`"
        for row in result["held_by_rule"]
        if row["campaigns"] > 1
    ]
    lines += [
        f"held: {row['campaign']}, {row['rule']}, vendor {row['vendor'] or '*'}: {row['message']}"
        for row in result["held"]
    ]
    if more := sum(row["holds"] for row in result["held_by_rule"]) - len(result["held"]):
        lines.append(f"… and {more:,} more holds")
    lines += [
        f"declined by {row['decided_by']}: {row['campaign']}, {row['rule']}, vendor {row['vendor'] or '*'};"
        f" `shelfsync promotions reopen {shlex.quote(row['campaign'])} --reason TEXT` opens it again"
        for row in result["decided"]
        if row["state"] == "declined"
    ]
    lines += [
        f"quarantined in run {row['run_id']}: {row['rows']:,} rows: {row['reason']}, such as at vendor {row['vendor']}: {row['example']}"
        for row in result["quarantined"]
    ]
    lines += rejection_lines(result["rejected_by_vendor"])
    lines += [f"finding: {found} times {cause}" for cause, found in result["findings"].items()]
    return Answer(result, lines or ["no promotions in the last days"])


@command(app, "shelfsync promotions recover", "shelfsync promotions recover --json")
def recover() -> Answer:
    """Finish what tasks and processes lost: requests never sent, answers never received."""
    from shelfsync.promotions.steps.report import recover

    with opened() as context:
        result = recover(context)
    first = f"{result['delivered']} requests sent, {result['confirmed']} jobs confirmed, {result['open']} jobs open"
    troubles = {**result["failed"], **result["paused"]}
    return Answer(
        result,
        [first, *(f"campaign {campaign}: {reason}" for campaign, reason in troubles.items())],
        partly(result),
        failures(result["failed"]),
    )


@command(
    app,
    "shelfsync promotions approve spring-sale",
    "shelfsync promotions approve --rule discount --user ada --reason 'the flyer of May'",
)
def approve(
    campaign: Campaign = None, rule: Rule = None, user: User = None, reason: Reason = None, *, yes: Yes = False
) -> Answer:
    """Show what is held of a campaign, or by one rule of all (needs --reason), ask once, and approve exactly that; the next run sends it."""
    from shelfsync.promotions.steps.decide import asked, decide

    chosen = _chosen(campaign, rule)
    if (campaign is None or campaign == "*") and not (reason or "").strip():
        raise typer.BadParameter("an approval of several campaigns at once needs a reason", param_hint="--reason")
    with opened() as context:
        question = asked(context, chosen)
        if question["holds"] and not yes:
            confirm(question["lines"], f"Approve this of {chosen.label}, and send it?")
        shown = question["mark"] if question["holds"] else None
        done = decide(context, chosen, approve=True, by=user_or(user), why=reason, shown=shown)
    return _decided(chosen, done, "approved", "approved; the next run sends it")


@command(app, "shelfsync promotions decline spring-sale", "shelfsync promotions decline '*' --user ada")
def decline(campaign: Campaign = None, rule: Rule = None, user: User = None, reason: Reason = None) -> Answer:
    """Decline what a guard holds of a campaign, or what one rule holds of all; it is not shown again until it changes."""
    from shelfsync.promotions.steps.decide import decide

    chosen = _chosen(campaign, rule)
    with opened() as context:
        done = decide(context, chosen, approve=False, by=user_or(user), why=reason)
    return _decided(chosen, done, "declined", "declined; the platform keeps what it has")


@command(
    app,
    "shelfsync promotions reopen spring-sale --reason 'the flyer is right after all'",
    "shelfsync promotions reopen --rule discount --reason 'the buyers look again'",
)
def reopen(campaign: Campaign = None, rule: Rule = None, user: User = None, reason: Reason = None) -> Answer:
    """Open what was approved or declined of a campaign again, to be decided anew; needs --reason."""
    from shelfsync.promotions.steps.decide import reopen as reopen_holds

    chosen = _chosen(campaign, rule)
    with opened() as context:
        done = reopen_holds(context, chosen, by=user_or(user), why=reason)
    return _decided(chosen, done, "held", "open again; approve or decline them")


def _chosen(campaign: str | None, rule: str | None) -> Chosen:
    from shelfsync.promotions.ledger.holds import Chosen

    if campaign is None and rule is None:
        raise typer.BadParameter("name a CAMPAIGN, or a cause by --rule")
    return Chosen(campaign, rule)


def _decided(chosen: Chosen, done: int, state: str, outcome: str) -> Answer:
    data = {"holds": done, "approved": state == "approved", "state": state}
    return Answer(data, [f"{done} holds of {chosen.label} are {outcome}"])


def _run(*, dry_run: bool) -> Answer:
    from shelfsync.promotions.steps.extract import open_run
    from shelfsync.promotions.steps.report import recover

    with opened() as context:
        if not dry_run:
            recover(context)  # a run plans nothing for a promotion with an open request
        run_id = open_run(context, f"cli/{uuid.uuid4()}", dry_run=dry_run)
        return summed(_sync(context, run_id))


def _sync(context: Context, run_id: int) -> dict[str, Any]:
    """The run. If it raises an error, the run is recorded as failed first."""
    from shelfsync.promotions.steps.report import report
    from shelfsync.promotions.steps.report import sync as run_steps

    try:
        with progress() as report_progress:
            return run_steps(context, run_id, report_progress)
    except ShelfsyncError:
        report(context, run_id)
        raise
