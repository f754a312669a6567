"""What a command prints: lines for a person, or one document for a script."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def print_told(document: dict[str, Any], as_json: bool, lines: list[str]) -> None:
    """The document as JSON, or the lines."""
    if as_json:
        print(json.dumps(document, default=str, ensure_ascii=False, indent=2))  # noqa: T201  what was asked for
    else:
        for line in lines:
            print(line)  # noqa: T201


@contextlib.contextmanager
def telling() -> Iterator[Callable[[str, int, int], None]]:
    """`tell(step, done, all)`, drawn on standard error."""
    from rich.console import Console

    from shelfsync.terminal import progress

    with progress(Console(stderr=True)) as tell:
        yield tell
