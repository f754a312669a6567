"""All commands together, and what happens to an error that one of them raises."""

from __future__ import annotations

import logging
import sys

import typer

from shelfsync.access import keep_private
from shelfsync.cli import (
    check,
    duckdb,
    explain,
    export,
    holds,
    housekeeping,
    inbox,
    orders,
    pause,
    plan,
    promotions,
    rejections,
    restore,
    settle,
    stack,
    status,
    sync,
)
from shelfsync.cli.output import print_error
from shelfsync.errors import ShelfsyncError

app = typer.Typer(
    name="shelfsync",
    help="Keeps the catalog of the delivery platform equal to the ERP.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    sync.sync,
    plan.plan,
    plan.apply,
    check.check,
    settle.settle,
    status.status,
    export.export,
    duckdb.duckdb,
    pause.pause,
    pause.resume,
    explain.explain,
    restore.restore,
    housekeeping.housekeeping,
    rejections.rejections,
    stack.up,
    stack.down,
    stack.demo,
):
    app.command()(command)
app.add_typer(orders.app, name="orders")
app.add_typer(promotions.app, name="promotions")
app.add_typer(holds.app, name="holds")
app.add_typer(inbox.app, name="inbox")

_STOPPED = "shelfsync: stopped; what was sent is in the ledger, and `shelfsync settle` goes on with it"


def main() -> None:
    """What the installed command runs."""
    keep_private()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s", stream=sys.stderr)
    try:
        app()
    except ShelfsyncError as error:
        print_error(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print(_STOPPED, file=sys.stderr)  # noqa: T201
        sys.exit(130)
