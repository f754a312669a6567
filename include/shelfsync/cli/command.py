"""How a command is declared: its name, its examples, and the options that every command has."""

from __future__ import annotations

import functools
import inspect
import logging
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from shelfsync.cli.output import QUIET, VERBOSE, Answer, print_answer, print_error
from shelfsync.errors import ExitCode

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
