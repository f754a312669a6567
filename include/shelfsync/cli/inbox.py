"""`shelfsync inbox list|replay|grant`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from shelfsync.cli.house import house
from shelfsync.cli.options import AsJson  # noqa: TC001  typer reads annotations
from shelfsync.cli.output import print_told

app = typer.Typer(help="Webhook events: what came, what waits, and reading some of them again.", no_args_is_help=True)

Kind = Annotated[Literal["job", "order", "unknown"] | None, typer.Option("--kind", help="Only these.")]
Waiting = Annotated[bool, typer.Option("--waiting", help="Only those of which nothing has followed yet.")]
SetAside = Annotated[bool, typer.Option("--set-aside", help="Only those that could not be processed, with the reason.")]
Limit = Annotated[int, typer.Option("--limit", min=1, help="How many.")]
Events = Annotated[list[int], typer.Argument(metavar="EVENT...", help="Numbers of events, as `list` shows them.")]


@app.command("list")
def list_events(
    kind: Kind = None,
    waiting: Waiting = False,
    set_aside: SetAside = False,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """The last events, newest first. Nothing of what is in them is shown."""
    with house() as opened:
        rows = opened.inbox.listed(kind=kind, only_waiting=waiting, only_set_aside=set_aside, limit=limit)
    print_told({"events": rows}, as_json, [_line(row) for row in rows] or ["no event has come"])


@app.command()
def replay(event: Events, as_json: AsJson = False) -> None:
    """Have all events of these events' jobs, and orders' events that are set aside, processed again; harmless, however often."""
    with house() as opened:
        replayed = opened.inbox.replay(event)
        taken = opened.orders.take() if any(one["platform_job_id"] is None for one in replayed) else None
        settled = opened.settle() if any(one["platform_job_id"] is not None for one in replayed) else None
    lines = [f"{_whose(one)}: {one['events']} events are read again" for one in replayed]
    if taken is not None:
        lines.append(f"{taken['orders']} orders moved, {taken['set_aside']} events set aside again")
    if settled is not None:
        lines.append(f"{settled['confirmed']} jobs confirmed, {settled['open']} jobs open")
    print_told({"replayed": replayed, "taken": taken, "settled": settled}, as_json, lines)
    if (settled is not None and settled["failed"]) or (taken is not None and taken["set_aside"]):
        raise typer.Exit(2)


@app.command()
def grant(
    role: Annotated[str, typer.Argument(metavar="ROLE", help="The role; it is made if it is missing.")],
    as_json: AsJson = False,
) -> None:
    """Give a role of the ledger's database what the receiver needs, and nothing else: shelfsync inbox grant shelfsync_receiver."""
    with house() as opened:
        made = opened.inbox.grant(role)
    lines = [f"role {role} may add events and picking results, and nothing else"]
    if made:
        lines.append(
            f"it was made now and has no password: ALTER ROLE {role} PASSWORD '...', or \\password {role} in psql"
        )
    print_told({"role": role, "made": made}, as_json, lines)


def _whose(replayed: dict[str, Any]) -> str:
    return "orders" if replayed["platform_job_id"] is None else f"job {replayed['platform_job_id']}"


def _line(row: dict[str, Any]) -> str:
    about = f"job {row['platform_job_id']} ({row['job_state'] or 'not a catalog job'})" if row["kind"] == "job" else "-"
    state = f"processed {row['processed_at']:%Y-%m-%d %H:%M:%S}" if row["processed_at"] else "waiting"
    state = f"set aside: {row['set_aside']}" if row["set_aside"] else state
    return f"{row['event_id']:>8}  {row['received_at']:%Y-%m-%d %H:%M:%S}  {row['kind']:<7}  {row['vendor'] or '-'}  {about}  {state}"
