"""All commands, group by group, with those of this machine: `config`, `up`, `down`, `demo`; and how an error of a command ends the process."""

from __future__ import annotations

import logging
import os
import sys
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

from shelfsync.chosen_chain import choose
from shelfsync.cli import (
    alerts,
    chains,
    control,
    data,
    decide,
    forget_store,
    inspect,
    mcp,
    orders,
    promotions,
    sandbox,
    state,
    sync,
)
from shelfsync.cli.command import (
    CONTROL,
    DATA,
    DECIDE,
    EXIT_CODES,
    INSPECT,
    MACHINE,
    SYNC,
    Answer,
    Group,
    Quiet,
    Verbose,
    command,
    plain_command,
    print_error,
    set_level,
    subgroup,
)
from shelfsync.errors import ShelfsyncError
from shelfsync.exit_codes import ExitCode
from shelfsync.file_access import keep_private
from shelfsync.secret_mask import mask_streams

app = typer.Typer(
    name="shelfsync",
    cls=Group,
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

command(app, "shelfsync check", "shelfsync check --vendor store-001", panel=SYNC)(sync.check)
command(app, "shelfsync plan", "shelfsync plan --full --vendor store-001 --out plan.json", panel=SYNC)(sync.plan)
command(app, "shelfsync apply plan.json", "shelfsync apply plan.json --json", panel=SYNC)(sync.apply)
command(
    app,
    "shelfsync sync",
    "shelfsync sync --full --vendor store-001",
    "shelfsync sync --vendor store-001 --sku 4711",
    "shelfsync sync --watch",
    panel=SYNC,
)(sync.sync)
command(app, "shelfsync recover", "shelfsync recover --json", panel=SYNC)(sync.recover)
command(app, "shelfsync export", "shelfsync export --vendor store-001", panel=SYNC)(sync.export)
app.add_typer(promotions.app, name="promotions", rich_help_panel=SYNC)

command(app, "shelfsync status", "shelfsync status --json", panel=INSPECT)(inspect.status)
command(
    app,
    "shelfsync metrics",
    "shelfsync metrics --output /var/lib/node_exporter/textfile/shelfsync.prom",
    panel=INSPECT,
)(inspect.metrics)
command(
    app,
    "shelfsync quarantine",
    "shelfsync quarantine --vendor store-001 --reason price_decimal_comma --limit 20",
    panel=INSPECT,
)(inspect.quarantine)
command(
    app, "shelfsync explain store-001 4711", "shelfsync explain store-001 4711 --at 2026-03-01T10:42", panel=INSPECT
)(inspect.explain)
command(app, "shelfsync doctor doctor.json", "shelfsync doctor doctor.json --quiet", panel=INSPECT)(inspect.doctor)
plain_command(app, "shelfsync mcp", "SHELFSYNC_CONFIG=/etc/shelfsync.toml shelfsync mcp", panel=INSPECT)(mcp.mcp)
app.add_typer(inspect.runs, name="runs", rich_help_panel=INSPECT)
app.add_typer(chains.app, name="chains", rich_help_panel=INSPECT)

app.add_typer(alerts.app, name="alerts", rich_help_panel=DECIDE)
app.add_typer(decide.holds, name="holds", rich_help_panel=DECIDE)
app.add_typer(decide.rejections, name="rejections", rich_help_panel=DECIDE)
app.add_typer(orders.app, name="orders", rich_help_panel=DECIDE)

command(
    app,
    "shelfsync pause store-001 --reason stocktaking",
    "shelfsync pause --whole-chain --reason 'wrong prices' --user ada",
    panel=CONTROL,
)(control.pause)
command(app, "shelfsync resume store-001", "shelfsync resume --whole-chain --reason 'prices are right'", panel=CONTROL)(
    control.resume
)
command(
    app,
    "shelfsync restore store-001 --at 2026-03-01T10:00 --dry-run",
    "shelfsync restore store-001 --at 2026-03-01T10:00 --duration 4h --reason 'till mistake'",
    "shelfsync restore store-001 --end",
    panel=CONTROL,
)(control.restore)
command(
    app,
    "shelfsync forget store-009 --take-off-sale --reason 'closed in March'",
    "shelfsync forget store-009 --leave-on-sale --reason 'moved to store-012' --user ada",
    panel=CONTROL,
)(forget_store.forget)

command(app, "shelfsync sniff /data/stock.csv", "shelfsync sniff s3://bucket/stock.csv --json", panel=DATA)(data.sniff)
command(app, "shelfsync duckdb today.duckdb", "shelfsync duckdb today.duckdb --quiet", panel=DATA)(data.duckdb)
command(app, "shelfsync housekeeping --dry-run", "shelfsync housekeeping", panel=DATA)(data.housekeeping)
command(app, "shelfsync change-table", "shelfsync change-table --quiet", panel=DATA)(data.change_table)
app.add_typer(data.change_files, name="change-files", rich_help_panel=DATA)
app.add_typer(data.inbox, name="inbox", rich_help_panel=DATA)
app.add_typer(state.app, name="state", rich_help_panel=DATA)


Platform = Annotated[
    str | None,
    typer.Option("--platform", metavar="HOST", help="Send to this platform of the settings; HOST is its host."),
]
Sandbox = Annotated[
    bool, typer.Option("--sandbox", help="Use the sandbox and the sample ERP, whatever the settings name.")
]


@plain_command(
    app,
    "shelfsync up",
    "shelfsync up --platform platform.example.com",
    "SHELFSYNC_HOME=/srv/shelfsync shelfsync up --sandbox",
    panel=MACHINE,
)
def up(platform: Platform = None, sandbox: Sandbox = False) -> None:
    """Start everything on this machine and leave it running: database, Airflow, receiver, sandbox, sample ERP.

    If the settings name a platform, every DAG sends to it. This needs its name: by --platform, or typed at the terminal.
    """
    from shelfsync.local import up as stack

    if sandbox and platform is not None:
        raise typer.BadParameter("name one of --platform and --sandbox, not both", param_hint="--sandbox")
    raise typer.Exit(stack.main(platform=platform, sandbox=sandbox))


@plain_command(app, "shelfsync down", "SHELFSYNC_HOME=/srv/shelfsync shelfsync down", panel=MACHINE)
def down() -> None:
    """Stop what `up` started."""
    from shelfsync.local import up as stack

    raise typer.Exit(stack.main_down())


@plain_command(app, "shelfsync demo", "SHELFSYNC_HOME=/tmp/demo shelfsync demo", panel=MACHINE)
def demo() -> None:
    """Run a full sync, a change in the ERP and a delta sync on a real Airflow; print the result and stop everything."""
    from shelfsync.local import demo as stack

    raise typer.Exit(stack.main())


app.add_typer(sandbox.app, name="sandbox", rich_help_panel=MACHINE)

config = subgroup("The settings of this machine.")
app.add_typer(config, name="config", rich_help_panel=MACHINE)


@command(config, "shelfsync config show", "shelfsync config show --json", name="show")
def show_config() -> Answer:
    """Every setting with its value and where it comes from. Secrets are shown as ***."""
    from shelfsync.settings.reading import shown_settings

    found = shown_settings()
    return Answer({"settings": found}, [_setting_line(**row) for row in found])


def _setting_line(*, name: str, value: object, source: str, connection: str | None, **_: object) -> str:
    given = "not set" if value is None else "yes" if value is True else "no" if value is False else value
    more = f"; in Airflow the connection {connection}, if there is one" if connection and source == "default" else ""
    return f"{name} = {given}  ({source}{more})"


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"shelfsync {version('shelfsync')}")  # noqa: T201
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and end.")
]


AnyChain = Annotated[
    str | None, typer.Option("--chain", metavar="NAME", help="Which chain, where the installation has several.")
]


@app.callback()
def shelfsync(
    _version: Version = False, quiet: Quiet = False, verbose: Verbose = False, chain: AnyChain = None
) -> None:
    """Keep the catalog of the delivery platform equal to the ERP."""
    choose(chain)
    set_level(quiet=quiet, verbose=verbose)


def main() -> None:
    """What the installed command runs."""
    keep_private()
    mask_streams()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s", stream=sys.stderr)
    _end(run(sys.argv[1:]))


def _end(code: int) -> NoReturn:
    """Ends the process at once. One that has read Parquet may be aborted if its interpreter is taken down first.

    A thread of Arrow that is about to release a Python file then dies in C++ (exit code 134, some 1 in 400 on a busy machine).
    """
    logging.shutdown()
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except BrokenPipeError:  # who reads has enough: `shelfsync status | head -1`
        os._exit(code or ExitCode.FAILURE)
    os._exit(code)


def run(arguments: list[str]) -> int:
    """One command line; its exit code. Every failure is one line on standard error, and with --json a document too."""
    as_json = "--json" in arguments
    try:
        code = int(app(arguments, prog_name="shelfsync", standalone_mode=False) or ExitCode.SUCCESS)
    except ShelfsyncError as error:
        print_error(error, as_json=as_json)
        return error.exit_code
    except typer.Abort:
        print_error("stopped by the user; nothing was done", as_json=as_json)
        return ExitCode.FAILURE
    except Exception as error:
        if (trouble := _trouble(error)) is not None:
            print_error(trouble, as_json=as_json)
            return trouble.exit_code
        if not hasattr(error, "format_message"):  # an unexpected error: its traceback shows the place
            if as_json:
                print_error(f"unexpected {type(error).__name__}", as_json=True)
            raise
        return _usage(error, as_json=as_json)
    if code == ExitCode.INTERRUPTED:
        print_error("interrupted; the ledger has what was sent. Run `shelfsync recover` to continue.")
    return code


def _trouble(error: Exception) -> ShelfsyncError | None:
    from shelfsync.settings import storage_fault
    from shelfsync.store.engine import trouble

    return storage_fault.trouble(error) or trouble(error)


def _usage(error: Exception, *, as_json: bool) -> int:
    """The message of a usage error. Without any argument typer raises its help text as an error."""
    where = getattr(getattr(error, "ctx", None), "command_path", "shelfsync")
    message = str(error.format_message())  # type: ignore[attr-defined]
    if type(error).__name__ == "NoArgsIsHelpError":
        print(message)  # noqa: T201
    else:
        print_error(f"{message.rstrip('.')}. Run `{where} --help`.", as_json=as_json, code=ExitCode.USAGE)
    return ExitCode.USAGE
