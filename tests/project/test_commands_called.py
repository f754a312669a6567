"""The tests of the installation call each command of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer.main

from installation.commands import COMMANDS
from shelfsync.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Iterator


def _names(command: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    below = getattr(command, "commands", None)
    if not below:
        yield " ".join(path)
    for word, one in (below or {}).items():
        yield from _names(one, (*path, word))


def test_every_command_of_the_program_is_called_in_an_installation():
    assert sorted(COMMANDS) == sorted(_names(typer.main.get_command(app)))
