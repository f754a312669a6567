"""The command line: the same steps as the DAGs, without Airflow.

Exit codes: 0 all well · 1 unexpected · 2 some vendors failed · 3 fix the configuration · 4 fix the data · 5 try again later · 6 a newer
run has gone past this one. `--json` prints one JSON document on standard output; everything for people goes to standard error.
"""

from __future__ import annotations

import json
import logging
import sys
import uuid
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shelfsync.errors import ShelfsyncError

if TYPE_CHECKING:
    from collections.abc import Callable

app = typer.Typer(
    name="shelfsync",
    help="Keeps the catalog of the delivery platform equal to the ERP.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Vendors = Annotated[
    list[str] | None, typer.Option("--vendor", "-v", metavar="VENDOR", help="Only this vendor; may be repeated.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document for a script.")]
Full = Annotated[bool, typer.Option("--full", help="Send the whole assortment, not only what changed.")]


@app.command()
def sync(vendor: Vendors = None, full: Full = False, as_json: AsJson = False) -> None:
    """Bring the platform to what the ERP says now, and wait for its word on every SKU."""
    _run(vendor, full=full, dry_run=False, as_json=as_json)


@app.command()
def plan(vendor: Vendors = None, full: Full = False, as_json: AsJson = False) -> None:
    """Show what a sync would send. Sends nothing."""
    _run(vendor, full=full, dry_run=True, as_json=as_json)


@app.command()
def check(vendor: Vendors = None, as_json: AsJson = False) -> None:
    """Try database, ERP and platform, and say in one line what is wrong with the configuration."""
    from shelfsync.settings import read_settings
    from shelfsync.wiring import open_house

    with open_house(read_settings()) as house:
        house.check(tuple(vendor or ()))
    _print({"ok": True}, as_json, ["database, ERP and platform answer; nothing was sent"])


@app.command()
def settle(as_json: AsJson = False) -> None:
    """Finish what events, tasks and processes lost: open jobs, and batches that never left."""
    from shelfsync.settings import read_settings
    from shelfsync.wiring import open_house

    with open_house(read_settings()) as house:
        told = house.settle()
    lines = [
        f"{told['confirmed']} jobs confirmed, {told['acknowledged']} acknowledged, {told['delivered']} batches sent, {told['open']} jobs open"
    ]
    _print(told, as_json, [*lines, *(f"vendor {vendor}: {why}" for vendor, why in told["failed"].items())])
    if told["failed"]:
        raise typer.Exit(2)


@app.command()
def status(as_json: AsJson = False) -> None:
    """Where every vendor stands: pending, in flight, acknowledged, held, rejected, and how old the oldest change is."""
    from shelfsync.settings import read_settings
    from shelfsync.wiring import open_house

    with open_house(read_settings()) as house:
        told = house.status()
    if as_json:
        _print(told, as_json, [])
        return
    from shelfsync.terminal import status_tables, wide_console

    console = wide_console()
    for table in status_tables(told):
        console.print(table)


@app.command()
def up() -> None:
    """Start everything on this machine and leave it running: database, Airflow, receiver, sandbox, sample ERP."""
    from shelfsync.stack import up as stack

    raise typer.Exit(stack.main())


@app.command()
def down() -> None:
    """Stop what `up` started."""
    from shelfsync.stack import down as stack

    raise typer.Exit(stack.main())


@app.command()
def demo() -> None:
    """A full sync, a change in the ERP, a delta sync, on a real Airflow; prints what came of it and stops everything."""
    from shelfsync.stack import demo as stack

    raise typer.Exit(stack.main())


_STOPPED = "shelfsync: stopped; what was sent is in the ledger, and `shelfsync settle` goes on with it"


def main() -> None:
    """What the installed command runs."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s", stream=sys.stderr)
    try:
        app()
    except ShelfsyncError as error:
        print(f"shelfsync: {error}", file=sys.stderr)  # noqa: T201  the one line for a person
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print(_STOPPED, file=sys.stderr)  # noqa: T201
        sys.exit(130)


def _run(vendor: list[str] | None, *, full: bool, dry_run: bool, as_json: bool) -> None:
    from shelfsync.settings import read_settings
    from shelfsync.terminal import progress
    from shelfsync.wiring import failed_line, open_house

    vendors = tuple(vendor or ())
    with open_house(read_settings()) as house:
        house.check(vendors)
        if not dry_run:
            house.settle()  # what an earlier process left open would keep its vendor from being sent
        run_id = house.open_run("full" if full else "delta", f"cli/{uuid.uuid4()}", vendors, dry_run=dry_run)
        with progress(_console()) as tell:
            summary = _sync(house, run_id, dry_run, tell)
    lines = summary.pop("lines")
    _print(summary, as_json, lines)
    error = failed_line(summary)
    if error is not None:
        raise typer.Exit(error.exit_code)


def _sync(house: Any, run_id: int, dry_run: bool, tell: Callable[[str, int, int], None]) -> dict[str, Any]:
    """The run; a run that breaks off is reported as failed before the error goes on."""
    try:
        summary: dict[str, Any] = house.sync(run_id, dry_run=dry_run, tell=tell)
    except ShelfsyncError:
        house.report(run_id)
        raise
    return summary


def _print(document: dict[str, Any], as_json: bool, lines: list[str]) -> None:
    if as_json:
        print(json.dumps(document, default=str, ensure_ascii=False, indent=2))  # noqa: T201  what was asked for
    else:
        for line in lines:
            print(line)  # noqa: T201


def _console() -> Any:
    from rich.console import Console

    return Console(stderr=True)
