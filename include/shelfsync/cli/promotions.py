"""`shelfsync promotions …`: the promotions' path without Airflow."""

from __future__ import annotations

import getpass
import uuid
from typing import Annotated, Any

import typer

from shelfsync.cli.house import house
from shelfsync.cli.options import AsJson  # noqa: TC001  typer reads annotations
from shelfsync.cli.output import print_told
from shelfsync.errors import ShelfsyncError

app = typer.Typer(
    help="Promotions: bring the platform to what the ERP says, and show where each stands.", no_args_is_help=True
)

Campaign = Annotated[str, typer.Argument(metavar="CAMPAIGN", help="The campaign; * for ends of many at once.")]
Rule = Annotated[str | None, typer.Option("--rule", metavar="RULE", help="Only what this rule holds.")]
By = Annotated[
    str | None, typer.Option("--by", metavar="NAME", help="Who decides; the user of this machine if not said.")
]


@app.command()
def plan(as_json: AsJson = False) -> None:
    """Show what a sync would make, change and end. Sends nothing."""
    _run(dry_run=True, as_json=as_json)


@app.command()
def sync(as_json: AsJson = False) -> None:
    """Bring the platform's promotions to what the ERP says now, and wait for its word on every SKU."""
    _run(dry_run=False, as_json=as_json)


@app.command()
def status(as_json: AsJson = False) -> None:
    """Every promotion of the last days: upcoming, running, over, ended, failed; what is held, refused, and does not fit the catalog."""
    with house() as opened:
        told = opened.promotions.status()
    lines = [
        f"{row['state']:9} {row['campaign']} ({row['name']}): {row['skus']} SKUs at {len(row['vendors'])} vendors,"
        f" {row['start_time']:%Y-%m-%d %H:%M} to {row['end_time']:%Y-%m-%d %H:%M}"
        + (f", {row['in_flight']} requests on their way" if row["in_flight"] else "")
        + (f", {row['refused']} pairs refused" if row["refused"] else "")
        + (f", {row['doubtful']} SKUs unconfirmed" if row["doubtful"] else "")
        for row in told["promotions"]
    ]
    lines += [
        f"held: {row['campaign']}, {row['rule']}, vendor {row['vendor'] or '*'}: {row['message']}"
        for row in told["held"]
    ]
    lines += [f"refused: {pairs} pairs: {reason}" for reason, pairs in told["refused"].items()]
    lines += [f"finding: {found} times {cause}" for cause, found in told["findings"].items()]
    print_told(told, as_json, lines or ["no promotions in the last days"])


@app.command()
def settle(as_json: AsJson = False) -> None:
    """Finish what tasks and processes lost: requests that never left, answers that never came."""
    with house() as opened:
        told = opened.promotions.settle()
    first = f"{told['delivered']} requests sent, {told['confirmed']} jobs confirmed, {told['open']} jobs open"
    troubles = {**told["failed"], **told["paused"]}
    print_told(told, as_json, [first, *(f"campaign {campaign}: {why}" for campaign, why in troubles.items())])
    if told["failed"]:
        raise typer.Exit(2)


@app.command()
def release(campaign: Campaign, rule: Rule = None, by: By = None, as_json: AsJson = False) -> None:
    """Let exactly what a guard holds of a campaign pass with the next run."""
    _decide(campaign, rule, by, as_json, release=True)


@app.command()
def refuse(campaign: Campaign, rule: Rule = None, by: By = None, as_json: AsJson = False) -> None:
    """Keep what a guard holds of a campaign back for good; it is not shown again until it changes."""
    _decide(campaign, rule, by, as_json, release=False)


def _decide(campaign: str, rule: str | None, by: str | None, as_json: bool, *, release: bool) -> None:
    with house() as opened:
        done = opened.promotions.decide(campaign, rule=rule, release=release, by=by or getpass.getuser())
    if not done:
        raise ShelfsyncError(f"nothing of campaign {campaign!r} is held. `shelfsync promotions status` lists what is.")
    word = "released; the next run sends it" if release else "refused; it stays as the platform was told"
    print_told({"holds": done, "released": release}, as_json, [f"{done} holds of campaign {campaign} are {word}"])


def _run(*, dry_run: bool, as_json: bool) -> None:
    from shelfsync.wiring import failed_line

    with house() as opened:
        path = opened.promotions
        if not dry_run:
            path.settle()  # what an earlier process left open would keep its promotion from being planned
        run_id = path.open_run(f"cli/{uuid.uuid4()}", dry_run=dry_run)
        summary = _sync(path, run_id)
    lines = summary.pop("lines")
    print_told(summary, as_json, lines)
    error = failed_line(summary)
    if error is not None:
        raise typer.Exit(error.exit_code)


def _sync(path: Any, run_id: int) -> dict[str, Any]:
    """The run; a run that breaks off is reported as failed before the error goes on."""
    try:
        return dict(path.sync(run_id))
    except ShelfsyncError:
        path.report(run_id)
        raise
