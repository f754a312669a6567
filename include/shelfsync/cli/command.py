"""How a command is declared: its name, its examples, and the arguments and options that several commands share: each name has one meaning."""

from __future__ import annotations

import datetime as dt
import functools
import getpass
import inspect
import logging
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from shelfsync.cli.output import QUIET, VERBOSE, Answer, print_answer, print_error
from shelfsync.errors import ExitCode
from shelfsync.explain.explanation import asked_instant

if TYPE_CHECKING:
    from collections.abc import Callable

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
_COMMON = [
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=annotation)
    for name, annotation in (("as_json", AsJson), ("quiet", Quiet), ("verbose", Verbose))
]


def command(
    group: typer.Typer, *examples: str, name: str | None = None, panel: str | None = None
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Adds a function to a group as a command that prints the function's answer. `examples`: whole command lines for the help."""

    def declare(function: Callable[..., Answer]) -> Callable[..., Answer]:
        add = group.command(name, cls=Command, epilog=_block("Examples", examples), rich_help_panel=panel)
        add(_printing(function))
        return function

    return declare


def plain_command(group: typer.Typer, *examples: str, panel: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """The same for a command that prints for itself, for people alone."""
    return group.command(cls=Command, epilog=_block("Examples", examples), rich_help_panel=panel)


def set_level(*, quiet: bool, verbose: bool) -> None:
    """Sets how much the process prints from now on; without either option it keeps its level."""
    if quiet and verbose:
        raise typer.BadParameter("name one of --quiet and --verbose, not both", param_hint="--quiet")
    if quiet or verbose:
        logging.getLogger().setLevel(QUIET if quiet else VERBOSE)


class Command(TyperCommand):
    """A command whose help shows its examples as they are typed, one a line, at any width of the terminal."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _with_block(self, super().format_help, ctx, formatter)


class Group(TyperGroup):
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
    def run(*, as_json: bool, quiet: bool, verbose: bool, **options: Any) -> None:
        root = logging.getLogger()
        before = root.level
        set_level(quiet=quiet, verbose=verbose)
        try:
            answer = function(**options)
            print_answer(answer, as_json=as_json)
        finally:
            root.setLevel(before)
        if answer.error is not None:
            print_error(answer.error)
            raise typer.Exit(answer.error.exit_code)

    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *_COMMON])  # type: ignore[attr-defined]
    return run


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


_UNITS = {"m": "minutes", "min": "minutes", "h": "hours", "d": "days"}


def read_instant(text: str) -> dt.datetime:
    """An ISO instant; UTC where no offset is given."""
    try:
        read = dt.datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is no instant; write 2026-03-01T10:42 (UTC) or 2026-03-01T11:42+01:00"
        ) from None
    return read if read.tzinfo else read.replace(tzinfo=dt.UTC)


def read_past(text: str) -> dt.datetime:
    """The end of a past instant, in UTC: see `asked_instant`."""
    try:
        return asked_instant(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def read_duration(text: str) -> dt.timedelta:
    """`90m`, `4h`, `2d`."""
    found = re.fullmatch(r"\s*(\d+)\s*(m|min|h|d)\s*", text)
    if found is None:
        raise typer.BadParameter(f"{text!r} is no duration; write 90m, 4h or 2d")
    return dt.timedelta(**{_UNITS[found[2]]: int(found[1])})


def user_or(name: str | None) -> str:
    """The acting user: the name given, or the user of this machine."""
    return name or getpass.getuser()


Vendors = Annotated[
    list[str] | None, typer.Option("--vendor", metavar="VENDOR", help="Only this vendor; may be repeated.")
]
OneVendor = Annotated[str | None, typer.Option("--vendor", metavar="VENDOR", help="Only this vendor.")]
Vendor = Annotated[str, typer.Argument(metavar="VENDOR", help="The platform's identifier of the store.")]
Sku = Annotated[str, typer.Argument(metavar="SKU", help="The SKU.")]
Skus = Annotated[list[str] | None, typer.Option("--sku", metavar="SKU", help="Only this SKU; may be repeated.")]
Full = Annotated[bool, typer.Option("--full", help="Send the whole assortment, not only what changed.")]
At = Annotated[
    dt.datetime | None,
    typer.Option(
        "--at", metavar="TIME", parser=read_past, help="The instant: 2026-03-01T10:42 (UTC), or with an offset."
    ),
]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; kept in the ledger.")]
User = Annotated[
    str | None, typer.Option("--user", metavar="NAME", help="Who decides; without it, the user of this machine.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what it would do.")]
Force = Annotated[
    bool,
    typer.Option("--force", help="Skip the confirmation of orders, or the check of pause that the vendor is known."),
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many at most.")]
