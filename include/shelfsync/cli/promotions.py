"""`promotions …`: the promotions' path without Airflow. `holds` decides what is held of them."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shelfsync import display
from shelfsync.cli.command import Answer, Limit, command, of_platform, opened, progress, subgroup
from shelfsync.cli.run_exit import failures, partly, summed
from shelfsync.cli.sync import showing_holds
from shelfsync.errors import ShelfsyncError

if TYPE_CHECKING:
    from shelfsync.context import Context

app = subgroup("Promotions: make the platform equal to the ERP, and show the state of each.")

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
    typer.Option("--campaign", metavar="CAMPAIGN", help="Only promotions with this text in their campaign or name."),
]
OfSku = Annotated[str | None, typer.Option("--sku", metavar="SKU", help="Only promotions with this SKU.")]
Problems = Annotated[bool, typer.Option("--problems", help="Only failed, rejected and unconfirmed promotions.")]


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
    """Every promotion of the last days, problems first; what is held, quarantined, rejected, and does not fit the catalog."""
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
        f"held by rule {row['rule']}: {row['rows']} rows in {row['campaigns']} campaigns at {row['vendors']} vendors; decide them together by"
        f" `shelfsync holds approve --rule {row['rule']} --reason TEXT` or `shelfsync holds decline --rule {row['rule']}`"
        for row in result["held_by_rule"]
        if row["campaigns"] > 1
    ]
    lines += [
        f"held: {row['campaign']}, {row['rule']}, vendor {row['vendor']}, hold {row['hold_id']}: {row['message']}"
        for row in result["held"]
    ]
    if more := sum(row["holds"] for row in result["held_by_rule"]) - len(result["held"]):
        lines.append(f"… and {more:,} more holds: `shelfsync holds list` has all")
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
    from shelfsync.promotions.steps.recover import recover

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


def _run(*, dry_run: bool) -> Answer:
    from shelfsync.promotions.steps.extract import open_run
    from shelfsync.promotions.steps.holds import waits
    from shelfsync.promotions.steps.recover import recover

    with opened() as context, showing_holds(context, waits):
        if not dry_run:
            recover(context)  # a run plans nothing for a promotion with an open request
        run_id = open_run(context, f"cli/{uuid.uuid4()}", dry_run=dry_run)
        return summed(_sync(context, run_id))


def _sync(context: Context, run_id: int) -> dict[str, Any]:
    """The run. If it raises an error, the run is recorded as failed first."""
    from shelfsync.promotions.steps.report import report
    from shelfsync.promotions.steps.sync import sync as run_steps

    try:
        with progress() as report_progress:
            return run_steps(context, run_id, report_progress)
    except ShelfsyncError:
        report(context, run_id)
        raise
