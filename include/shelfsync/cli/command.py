"""How a command is declared: its name, its examples, and the arguments and options that several commands share: each name has one meaning.

And what it prints: lines for the operator, or one JSON document for a script; and the one line of an error.
"""

from __future__ import annotations

import contextlib
import contextvars
import datetime as dt
import functools
import inspect
import json
import logging
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from shelfsync import display
from shelfsync.chain_names_in_text import own_names
from shelfsync.chosen_chain import chain_in_use, choose
from shelfsync.cli.times import read_past
from shelfsync.errors import ConfigurationError, DataError, ShelfsyncError
from shelfsync.exit_codes import ExitCode
from shelfsync.invisible_characters import plain, plain_json, plain_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from shelfsync.context import Context
    from shelfsync.terminal import FittedTable

log = logging.getLogger(__name__)

SCHEMA = 1
"""Version of the JSON documents. A field may be added; any other change is a new version."""
QUIET, VERBOSE = logging.ERROR, logging.INFO
"""The level of the root logger sets how much a command prints: log lines, progress and results alike."""

SYNC, INSPECT, DECIDE, CONTROL, DATA, MACHINE = PANELS = (
    "sync",
    "inspect",
    "decide",
    "control",
    "data",
    "this machine",
)
"""The groups of `shelfsync --help`, in order."""

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.", rich_help_panel="Output")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.", rich_help_panel="Output")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print log lines on standard error.", rich_help_panel="Output")
]


def _choose(name: str | None) -> str | None:
    """Before any other option is read: what one of them means may depend on the chain's settings."""
    if name is not None:
        choose(name)
    return name


Chain = Annotated[
    str | None,
    typer.Option(
        "--chain",
        metavar="NAME",
        is_eager=True,
        callback=_choose,
        help="Which chain, where the installation has several (SHELFSYNC_CHAIN).",
        rich_help_panel="Output",
    ),
]
_COMMON = [
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    for name, default, annotation in (
        ("chain", None, Chain),
        ("as_json", False, AsJson),
        ("quiet", False, Quiet),
        ("verbose", False, Verbose),
    )
]


@dataclass(frozen=True)
class Answer:
    """What a command found or did: `data` for scripts, `lines` for people. `error`: what failed, if the command did only a part.

    `brief`: the error where the lines have its reasons already. `file`: text for a program, printed before the lines as it is.
    """

    data: Any
    lines: Sequence[str | FittedTable]
    error: ShelfsyncError | None = None
    brief: str | None = None
    file: str = ""


def command(
    group: typer.Typer, *examples: str, name: str | None = None, panel: str | None = None
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Adds a function to a group as a command that prints the function's answer. `examples`: whole command lines for the help."""

    def declare(function: Callable[..., Answer]) -> Callable[..., Answer]:
        add = group.command(name, cls=Command, epilog=_block("Examples", examples), rich_help_panel=panel)
        add(_printing(function))
        return function

    return declare


def plain_command(
    group: typer.Typer, *examples: str, panel: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The same for a command that prints for itself, for people alone."""
    return group.command(cls=Command, epilog=_block("Examples", examples), rich_help_panel=panel)


def subgroup(about: str) -> typer.Typer:
    """A group of commands below the program's; without a command it prints its help. `about`: one sentence."""
    return typer.Typer(cls=Subgroup, help=about, no_args_is_help=True)


def set_level(*, quiet: bool, verbose: bool) -> None:
    """Sets how much the process prints from now on; without either option it keeps its level."""
    if quiet and verbose:
        raise typer.BadParameter("name one of --quiet and --verbose, not both", param_hint="--quiet")
    if quiet or verbose:
        logging.getLogger().setLevel(QUIET if quiet else VERBOSE)


class Command(TyperCommand):
    """A command whose help shows its examples as they are typed, one a line, at any width of the terminal."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _with_block(self, super().format_help, ctx, formatter)


class Subgroup(TyperGroup):
    """Commands of one subject."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))


class Group(Subgroup):
    """The commands of the whole program, group by group, and the exit codes below them."""

    def list_commands(self, ctx: Any) -> list[str]:
        def position(name: str) -> tuple[int, bool]:
            found = self.commands[name]
            return PANELS.index(str(getattr(found, "rich_help_panel", None))), isinstance(found, TyperGroup)

        return sorted(super().list_commands(ctx), key=position)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _with_block(self, super().format_help, ctx, formatter)


EXIT_CODES = "Exit codes:\n" + "\n".join(f"  {code:>3}  {code.meaning}" for code in ExitCode)


def _printing(function: Callable[..., Answer]) -> Callable[..., None]:
    signature = inspect.signature(function, eval_str=True)

    @functools.wraps(function)
    def run(*, as_json: bool, quiet: bool, verbose: bool, chain: str | None, **options: Any) -> None:  # noqa: ARG001  chosen
        root = logging.getLogger()
        before = root.level
        set_level(quiet=quiet, verbose=verbose)
        _reject_too_large(options)
        try:
            with display.scope(), display.for_scripts() if as_json else contextlib.nullcontext():
                answer = function(**options)
                print_answer(answer, as_json=as_json)
            brief = None if as_json or is_quiet() else answer.brief
        finally:
            root.setLevel(before)
        if answer.error is not None:
            print_error(answer.error, brief=brief)
            raise typer.Exit(answer.error.exit_code)

    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *_COMMON])  # type: ignore[attr-defined]
    return run


def _without_types(params: list[Any]) -> list[Any]:
    """The parameters as help shows them: without typer's `<bool>` behind a flag and `<str>` behind an argument's name."""
    for param in params:
        if param.is_flag if param.param_type_name == "option" else param.metavar is not None:
            param.display_type_rich = _no_type
    return params


def _no_type(*, ctx: Any) -> None:
    """No word."""


def _block(title: str, lines: tuple[str, ...]) -> str:
    return "\n".join((f"{title}:", *(f"  {line}" for line in lines)))


def _with_block(shown: TyperCommand | TyperGroup, show: Callable[..., None], ctx: Any, formatter: Any) -> None:
    """The help, and below it the epilog line by line: typer would make one paragraph of it."""
    block, shown.epilog = shown.epilog, None
    try:
        show(ctx, formatter)
    finally:
        shown.epilog = block
    if block:
        formatter.write(f"{block}\n")


def _reject_too_large(options: dict[str, Any]) -> None:
    for value in options.values():
        for number in value if isinstance(value, list) else (value,):
            if isinstance(number, int) and abs(number) > _NUMBER_MAX:
                raise typer.BadParameter(f"{number} is larger than any number that shelfsync has")


_NUMBER_MAX = 2**63 - 1
"""The largest number of a row in PostgreSQL."""


def confirm(lines: Sequence[str], question: str) -> None:
    """Shows what an approval will do, and asks once. A DataError: the answer is not yes."""
    for line in lines:
        typer.echo(plain(line), err=True)
    try:
        typer.confirm(question, abort=True, err=True)
    except typer.Abort:
        raise DataError("nothing was approved; a script adds --yes") from None


def of_platform(given: Any) -> Any:
    """What was typed as one vendor or several. A ConfigurationError if one of them is the ERP's id of a store, with the platform's."""
    from shelfsync.settings import read_settings

    erp = read_settings().erp if given else None
    if erp is None or not (erp.vendor_ids or erp.vendor_ids_file):
        return given
    from shelfsync.erp.vendor_ids import VendorIds  # brings pyarrow

    try:
        ids = VendorIds.of(erp)
    except ConfigurationError:  # a store can be paused all the same; whoever reads the ERP reports it
        return given
    for name in [given] if isinstance(given, str) else given:
        if (vendor := ids.called_otherwise(name)) is not None:
            raise ConfigurationError(
                "VENDOR",
                f"{name!r} is the ERP's id of the store that the platform calls {vendor!r}",
                f"Write {vendor}.",
            )
    return given


Vendors = Annotated[
    list[str] | None,
    typer.Option("--vendor", metavar="VENDOR", callback=of_platform, help="Only this vendor; may be repeated."),
]
OneVendor = Annotated[
    str | None, typer.Option("--vendor", metavar="VENDOR", callback=of_platform, help="Only this vendor.")
]
Vendor = Annotated[
    str, typer.Argument(metavar="VENDOR", callback=of_platform, help="The platform's identifier of the store.")
]
Sku = Annotated[str, typer.Argument(metavar="SKU", help="The SKU.")]
Skus = Annotated[list[str] | None, typer.Option("--sku", metavar="SKU", help="Only this SKU; may be repeated.")]
Full = Annotated[bool, typer.Option("--full", help="Send the whole assortment, not only what changed.")]
At = Annotated[
    dt.datetime | None,
    typer.Option(
        "--at",
        metavar="TIME",
        parser=read_past,
        help="The instant: 2026-03-01T10:42 (in SHELFSYNC_TIME_ZONE), or with an offset.",
    ),
]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; kept in the ledger.")]
User = Annotated[
    str | None, typer.Option("--user", metavar="NAME", help="Who decides; without it, the user of this machine.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Approve without the question; for scripts.")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace FILE even if it is something else.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what it would do.")]
Force = Annotated[
    bool,
    typer.Option("--force", help="Skip the confirmation of orders, or the check of pause that the vendor is known."),
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many at most.")]


def print_answer(answer: Answer, *, as_json: bool) -> None:
    """Prints the data as JSON, or the file and the lines. No control sequence in them reaches the terminal."""
    if as_json:
        _print_document("data", answer.data)
    elif not is_quiet():
        from shelfsync.terminal import wide_console

        sys.stdout.write(plain_lines(answer.file.replace("\r\n", "\n")) if sys.stdout.isatty() else answer.file)
        console = wide_console()
        for line in answer.lines:
            if isinstance(line, str):
                print(plain(own_names(line, chain_in_use())))  # noqa: T201
            else:
                console.print(line)


def print_error(
    error: ShelfsyncError | str, *, brief: str | None = None, as_json: bool = False, code: ExitCode = ExitCode.FAILURE
) -> None:
    """Prints one line on standard error, `brief` instead of the message if there is one; with `as_json` also a document on standard output."""
    page = error.page if isinstance(error, ShelfsyncError) else "docs/reference/cli.md#exit-codes"
    see = f" [{page}]" if isinstance(error, ShelfsyncError) else ""
    print(plain(own_names(f"shelfsync: {brief or error}{see}", chain_in_use())), file=sys.stderr)  # noqa: T201
    if as_json:
        code = ExitCode.of(error.exit_code) if isinstance(error, ShelfsyncError) else code
        message, remedy, chain = str(error), code.remedy, chain_in_use()
        if isinstance(error, ConfigurationError):
            message, remedy, chain = f"{error.setting}: {error.problem}", error.remedy, error.chain
        told = {"message": own_names(message, chain), "remedy": own_names(remedy, chain)}
        _print_document("error", {"code": code.name.lower(), **told, "page": page})


def is_quiet() -> bool:
    """Whether only errors are printed."""
    return logging.getLogger().level >= QUIET


_only_reading = contextvars.ContextVar("only_reading", default=False)


@contextlib.contextmanager
def only_reading() -> Iterator[None]:
    """Within it, `opened` gives contexts that can change nothing on the platform, and rejects a database that has to be migrated."""
    token = _only_reading.set(True)
    try:
        yield
    finally:
        _only_reading.reset(token)


@contextlib.contextmanager
def opened(*, read_only: bool = False, reports: bool = False, begins: bool = False) -> Iterator[Context]:
    """A context with the settings of this process, for one command; `read_only`: it can change nothing on the platform.

    `reports`: the command prints the report of a run, so what is in it is not logged besides. `begins`: a person begins by this command, so it
    creates the database of the state folder or the chain if it is not there.
    """
    from shelfsync import logs
    from shelfsync.app import open_app
    from shelfsync.check import new_ledger_warning
    from shelfsync.settings import read_settings

    settings = read_settings()
    logs.configure(settings.log_format, logging.getLogger().level, reports=reports)
    display.use(display.Display.of(settings.time_zone, settings.currency))
    only = _only_reading.get()
    with open_app(settings, read_only=read_only or only, migrate=not only, begins=begins) as context:
        if (line := new_ledger_warning(context)) is not None:
            log.warning("%s", line)
        yield context


@contextlib.contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """`report(step, done, all)`, drawn on standard error where that is a terminal."""
    from rich.console import Console

    from shelfsync import terminal

    with terminal.progress(Console(stderr=True, quiet=is_quiet())) as report:
        yield report


def document(kind: str, content: Any) -> str:
    """The JSON document of an answer (`data`) or of an error, without control sequences."""
    return plain_json(json.dumps({"schema": SCHEMA, kind: content}, default=_value, ensure_ascii=False, indent=2))


def _print_document(kind: str, content: Any) -> None:
    print(document(kind, content))  # noqa: T201


def _value(value: object) -> object:
    """What JSON has no form for: an instant in ISO 8601 with its offset, a length of time in seconds, anything else as text."""
    if isinstance(value, dt.datetime):
        return (value.astimezone(dt.UTC) if value.tzinfo else value.replace(tzinfo=dt.UTC)).isoformat()
    if isinstance(value, dt.date):
        return value.isoformat()
    return value.total_seconds() if isinstance(value, dt.timedelta) else str(value)
