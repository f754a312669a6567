"""What a command prints: lines for the operator, or one JSON document for a script; and the one line of an error."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import logging
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shelfsync.errors import ConfigurationError, ExitCode, ShelfsyncError
from shelfsync.logs import plain, plain_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.table import Table

    from shelfsync.context import Context

log = logging.getLogger(__name__)

SCHEMA = 1
"""Version of the JSON documents. A field may be added; any other change is a new version."""
QUIET, VERBOSE = logging.ERROR, logging.INFO
"""The level of the root logger sets how much a command prints: log lines, progress and results alike."""


@dataclass(frozen=True)
class Answer:
    """What a command found or did: `data` for scripts, `lines` for people. `error`: what failed, if the command did only a part."""

    data: Any
    lines: Sequence[str | Table]
    error: ShelfsyncError | None = None


def print_answer(answer: Answer, *, as_json: bool) -> None:
    """Prints the data as JSON, or the lines. No control sequence in them reaches the terminal."""
    if as_json:
        _print_document("data", answer.data)
    elif not is_quiet():
        from shelfsync.terminal import wide_console

        console = wide_console()
        for line in answer.lines:
            if isinstance(line, str):
                print(plain(line))  # noqa: T201
            else:
                console.print(line)


def print_error(error: ShelfsyncError | str, *, as_json: bool = False, code: ExitCode = ExitCode.FAILURE) -> None:
    """Prints one line on standard error; with `as_json` also a document on standard output."""
    page = error.page if isinstance(error, ShelfsyncError) else "docs/reference/cli.md#exit-codes"
    see = f" [{page}]" if isinstance(error, ShelfsyncError) else ""
    print(plain(f"shelfsync: {error}{see}"), file=sys.stderr)  # noqa: T201
    if as_json:
        code = ExitCode.of(error.exit_code) if isinstance(error, ShelfsyncError) else code
        message, remedy = str(error), code.remedy
        if isinstance(error, ConfigurationError):
            message, remedy = f"{error.setting}: {error.problem}", error.remedy
        _print_document("error", {"code": code.name.lower(), "message": message, "remedy": remedy, "page": page})


def is_quiet() -> bool:
    """Whether only errors are printed."""
    return logging.getLogger().level >= QUIET


@contextlib.contextmanager
def opened(*, read_only: bool = False) -> Iterator[Context]:
    """A context with the settings of this process, for one command; `read_only`: it can change nothing on the platform."""
    from shelfsync import logs
    from shelfsync.app import open_app
    from shelfsync.check import new_ledger_warning
    from shelfsync.settings import read_settings

    settings = read_settings()
    logs.configure(settings.log_format, logging.getLogger().level)
    with open_app(settings, read_only=read_only) as context:
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


def _print_document(kind: str, content: Any) -> None:
    document = {"schema": SCHEMA, kind: content}
    print(plain_json(json.dumps(document, default=_value, ensure_ascii=False, indent=2)))  # noqa: T201


def _value(value: object) -> object:
    """What JSON has no form for: an instant in ISO 8601 with its offset, a length of time in seconds, anything else as text."""
    if isinstance(value, dt.datetime):
        return (value if value.tzinfo else value.replace(tzinfo=dt.UTC)).isoformat()
    if isinstance(value, dt.date):
        return value.isoformat()
    return value.total_seconds() if isinstance(value, dt.timedelta) else str(value)
