"""The commands of `shelfsync` as its own parser knows them."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

import typer.main

from shelfsync.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Any = typer.main.get_command(app)


def commands(group: Any = ROOT, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that is no group, with its words."""
    for word, found in group.commands.items():
        if hasattr(found, "commands"):
            yield from commands(found, (*path, word))
        else:
            yield (*path, word), found


def options(command: Any) -> dict[str, Any]:
    """The options of a command, by each of their spellings."""
    named = {spelling: param for param in command.params for spelling in param.opts if spelling.startswith("-")}
    return named | dict.fromkeys(("--help", "-h"))


def parse(line: str) -> None:
    """Parses a whole command line and runs nothing; raises for an unknown word or option, and for a lacking one."""
    words = shlex.split(line)
    while "=" in words[0]:
        words.pop(0)
    command, context = ROOT, typer.Context(ROOT, info_name=words.pop(0))
    while hasattr(command, "commands"):
        word = words.pop(0)
        command = command.commands[word]
        if not hasattr(command, "commands"):
            context = command.make_context(word, words, parent=context)


def trouble(line: str) -> str | None:
    """What is wrong with a command line of a text, where placeholders stand for values: unknown words or options. None: nothing is."""
    words = re.sub(r"\{[^}]*\}|\[|\]", " X ", line).split()[1:]
    command = ROOT
    while hasattr(command, "commands") and words and re.fullmatch(r"[a-z|-]+", words[0]):
        several = words.pop(0).split("|")
        if unknown := [word for word in several if word not in command.commands and not word.startswith("-")]:
            return f"{line}: no command {', '.join(unknown)}"
        if several[0].startswith("-"):
            break
        command = command.commands[several[0]]
    known = options(command)
    unknown = [word for word in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", line) if word not in known]
    return f"{line}: no option {', '.join(unknown)}" if unknown else None
