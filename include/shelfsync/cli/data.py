"""`sniff`, `duckdb`, `change-table`, `change-files`, `housekeeping`, `inbox`: what shelfsync keeps, what the ERP changed, and webhook events."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from shelfsync import display
from shelfsync.cli.command import Answer, DryRun, Limit, Replace, command, opened, subgroup
from shelfsync.errors import PartlyFailedError

change_files = subgroup("Files of changes: what was taken, what is quarantined, and taking one again.")
inbox = subgroup("Webhook events: what came, what waits, and processing some again.")

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="The file to write; an older one of this command is replaced.")
]
Kind = Annotated[Literal["job", "order", "unknown"] | None, typer.Option("--kind", help="Only events of this kind.")]
Address = Annotated[
    str, typer.Argument(metavar="FILE", help="The file, or its address, such as s3://bucket/stock.csv.")
]
Waiting = Annotated[bool, typer.Option("--waiting", help="Only those that are not processed yet.")]
Quarantined = Annotated[
    bool,
    typer.Option("--quarantined", help="Only quarantined events: those that could not be processed, with the reason."),
]
Events = Annotated[list[int], typer.Argument(metavar="EVENT", help="Numbers of events, as `list` shows them.")]
ChangePath = Annotated[str, typer.Argument(metavar="FILE", help="Its path, as `list` shows it.")]
Role = Annotated[str, typer.Argument(metavar="ROLE", help="The role; it is made if it is missing.")]


def sniff(file: Address) -> Answer:
    """Propose the settings for a file of the ERP: its delimiter, encoding, marks and columns, and what is ambiguous.

    It reads the beginning and the end of this file alone: no settings, no database. It changes nothing.
    """
    from shelfsync.erp.sniff import sniff as propose

    found = propose(file)
    return Answer(found.as_dict(), found.lines())


def duckdb(file: File, replace: Replace = False) -> Answer:
    """Write the warehouse as one DuckDB file, with the same tables and views: for notebooks, and where there is no server."""
    from shelfsync.catalog.steps.counts import counts
    from shelfsync.warehouse.duckdb_file import named, write

    named(file, replace=replace).check()
    with opened() as context:
        counts(context)
        result = write(context.engine, context.lake, file, replace=replace)
    return Answer(result, [f"{file}:", *(f"  {rows:>12,}  {name}" for name, rows in result.items())])


def change_table() -> Answer:
    """Print the SQL of a table of changes, fed by triggers, and of the query on it: an example for a PostgreSQL ERP.

    It is made for the sample ERP. The ERP's administrator puts the names of the own tables in and runs it.
    """
    from shelfsync.erp.sample import CHANGE_TABLE_FILE, CHANGES_FILE

    table, query = CHANGE_TABLE_FILE.read_text("utf-8"), CHANGES_FILE.read_text("utf-8")
    return Answer({"table": table, "query": query}, [*table.splitlines(), "", *query.splitlines()])


@command(change_files, "shelfsync change-files list --limit 10", "shelfsync change-files list --json", name="list")
def list_change_files(limit: Limit = 20) -> Answer:
    """The last files of changes: those that wait or are quarantined first, each with the reason."""
    from shelfsync.catalog.ledger import change_files as of_ledger

    with opened() as context, context.engine.connect() as connection:
        rows = of_ledger.listed(connection, limit=limit)
    return Answer({"files": rows}, [_file_line(row) for row in rows] or ["no file of changes was seen"])


@command(
    change_files,
    "shelfsync change-files replay /feed/0042.csv",
    "shelfsync change-files replay /feed/0042.csv --json",
    name="replay",
)
def replay_change_file(path: ChangePath) -> Answer:
    """Let the next delta take a file again, and after it those of its sequence that were taken since: their rows are newer.

    It ends with exit code 4, and changes nothing, if one of these files is gone, or if a reading of the whole has the rows already.
    """
    from shelfsync.catalog.steps.changes import replay as take_again

    with opened() as context:
        paths = take_again(context, path)
    return Answer({"files": paths}, [f"the next delta takes {len(paths)} files again, from {paths[0]} on"])


def housekeeping(dry_run: DryRun = False) -> Answer:
    """Remove what is older than its retention (SHELFSYNC_HOUSEKEEPING__...) and no longer needed."""
    from shelfsync.housekeeping.remove_expired import remove_expired

    with opened() as context:
        result = remove_expired(context, dry_run=dry_run)
    return Answer(result, result.pop("lines"))


@command(inbox, "shelfsync inbox list --limit 10", "shelfsync inbox list --quarantined --kind order", name="list")
def list_events(
    kind: Kind = None, waiting: Waiting = False, quarantined: Quarantined = False, limit: Limit = 50
) -> Answer:
    """The last events, newest first, without their content."""
    from shelfsync.receiver import operator_actions

    with opened() as context:
        rows = operator_actions.listed(
            context.engine, kind=kind, only_waiting=waiting, only_quarantined=quarantined, limit=limit
        )
    return Answer({"events": rows}, [_line(row) for row in rows] or ["no event was received"])


@command(inbox, "shelfsync inbox replay 41", "shelfsync inbox replay 41 42 43 --json")
def replay(event: Events) -> Answer:
    """Process all events of these events' jobs again, and quarantined events of orders. A repeat is harmless."""
    from shelfsync.catalog.steps.recover import recover
    from shelfsync.orders.steps.take_events import take
    from shelfsync.receiver import operator_actions

    with opened() as context:
        replayed = operator_actions.replay(context.engine, event)
        taken = take(context) if any(row["platform_job_id"] is None for row in replayed) else None
        recovered = recover(context) if any(row["platform_job_id"] is not None for row in replayed) else None
    lines = [f"{_whose(row)}: {row['events']} events are processed again" for row in replayed]
    if taken is not None:
        lines.append(f"{taken['orders']} orders changed, {taken['quarantined']} events quarantined again")
    if recovered is not None:
        lines.append(f"{recovered['confirmed']} jobs confirmed, {recovered['open']} jobs open")
    failed = (recovered is not None and recovered["failed"]) or (taken is not None and taken["quarantined"])
    error = PartlyFailedError("some events could not be processed: `shelfsync inbox list --quarantined`")
    return Answer({"replayed": replayed, "taken": taken, "recovered": recovered}, lines, error if failed else None)


@command(inbox, "shelfsync inbox grant shelfsync_receiver", "shelfsync inbox grant shelfsync_receiver --json")
def grant(role: Role) -> Answer:
    """Give a role of the ledger's database what the receiver needs, and nothing else."""
    from shelfsync.receiver import database_role

    with opened() as context:
        made = database_role.grant(context.engine, role)
    lines = [f"role {role} may add events and picking results, and nothing else"]
    if made:
        lines.append(
            f"it was made now and has no password: ALTER ROLE {role} PASSWORD '...', or \\password {role} in psql"
        )
    return Answer({"role": role, "made": made}, lines)


def _file_line(row: dict[str, Any]) -> str:
    reason = f": {row['reason']}" if row["reason"] else ""
    closed = (
        ", and a later reading of the whole has its rows" if row["closed"] and row["state"] == "quarantined" else ""
    )
    return (
        f"{display.instant(row['seen_at'])}  {row['state']:<11}  {row['rows']:>9,} rows  {row['file']}{reason}{closed}"
    )


def _whose(replayed: dict[str, Any]) -> str:
    return "orders" if replayed["platform_job_id"] is None else f"job {replayed['platform_job_id']}"


def _line(row: dict[str, Any]) -> str:
    about = f"job {row['platform_job_id']} ({row['job_state'] or 'not a catalog job'})" if row["kind"] == "job" else "-"
    state = f"processed {display.instant(row['processed_at'])}" if row["processed_at"] else "waiting"
    state = f"quarantined: {row['quarantine_reason']}" if row["quarantine_reason"] else state
    return f"{row['event_id']:>8}  {display.instant(row['received_at'])}  {row['kind']:<7}  {row['vendor'] or '-'}  {about}  {state}"
