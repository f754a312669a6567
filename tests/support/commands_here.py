"""`shelfsync …` in the process of the test, which costs a fraction of a process."""

from __future__ import annotations

import contextlib
import functools
import io
import logging
import os
from typing import TYPE_CHECKING

import typer

import canaries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    import pytest

typer.main.get_command = functools.cache(typer.main.get_command)
"""The tree of all commands, which each process builds once, costs more CPU time than most commands."""


@contextlib.contextmanager
def commands_here(
    environment: Mapping[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., tuple[int, str, str]]]:
    """Runs a command with the settings of this environment: (exit code, standard output, standard error). A question gets no answer."""
    for name in list(os.environ):
        if name.startswith(("SHELFSYNC_", "AIRFLOW_")):
            monkeypatch.delenv(name)
    for name, value in environment.items():
        if name.startswith("SHELFSYNC_"):
            monkeypatch.setenv(name, value)
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    root = logging.getLogger()
    levels = {logger: logger.level for logger in (root, *map(logging.getLogger, canaries.LOGGERS))}
    handlers = list(root.handlers)

    def call(*arguments: str) -> tuple[int, str, str]:
        from shelfsync.cli.app import run as command

        for logger in levels:  # as in a process, where none but the root has a level
            logger.setLevel(logging.WARNING if logger is root else logging.NOTSET)
        code = command(list(arguments))
        output = capsys.readouterr()
        return code, output.out, output.err

    try:
        yield call
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)
        root.handlers[:] = handlers
