"""What a command prints: lines for a person, or one document for a script."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import TYPE_CHECKING, Any

from shelfsync.plain import plain, plain_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def print_told(document: dict[str, Any], as_json: bool, lines: list[str]) -> None:
    """The document as JSON, or the lines. Nothing in them acts on the terminal."""
    if as_json:
        print(plain_json(json.dumps(document, default=str, ensure_ascii=False, indent=2)))  # noqa: T201  what was asked for
    else:
        for line in lines:
            print(plain(line))  # noqa: T201


def print_error(error: object) -> None:
    """The one line for a person, on standard error."""
    print(plain(f"shelfsync: {error}"), file=sys.stderr)  # noqa: T201


@contextlib.contextmanager
def telling() -> Iterator[Callable[[str, int, int], None]]:
    """`tell(step, done, all)`, drawn on standard error."""
    from rich.console import Console

    from shelfsync.terminal import progress

    with progress(Console(stderr=True)) as tell:
        yield tell
