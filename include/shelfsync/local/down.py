"""`make down`: stops every service of the state folder, whichever process started it, and the remains of a killed run."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING

from shelfsync.access import keep_private
from shelfsync.errors import ShelfsyncError
from shelfsync.local.place import Place
from shelfsync.local.postgres import EmbeddedPostgres
from shelfsync.local.processes import Processes
from shelfsync.local.stack import living, stop_leftovers

if TYPE_CHECKING:
    from collections.abc import Callable

    from shelfsync.settings import Settings

STOP_TIMEOUT_S = 90.0
GONE_TIMEOUT_S = 15.0
"""After a process has released its lock, its interpreter still has to end."""


def down(settings: Settings, *, echo: Callable[[str], None]) -> None:
    """Stops every service of shelfsync, except a PostgreSQL that another command of shelfsync uses right now."""
    place = Place(settings.home.absolute())
    if other := living(place):
        _stop(place, other, echo)
    if place.run.is_dir():
        stop_leftovers(Processes(place), echo)
    postgres = EmbeddedPostgres(place.home, echo=echo)
    if postgres.status().running and not postgres.stop_if_unused():
        echo("PostgreSQL stays up: a command is using it, and will stop it at its end")
    else:
        echo("everything is stopped")


def _stop(place: Place, other: dict[str, object], echo: Callable[[str], None]) -> None:
    """Signals the running stack to end, and waits for its end."""
    pid = other.get("pid")
    if not isinstance(pid, int):
        raise ShelfsyncError(f"Something holds {place.run / 'stack.lock'} and has no name. End it by hand.")
    echo(f"stopping `{other.get('what')}` (process {pid})")
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, sign)
        except ProcessLookupError:
            return
        deadline_s = time.monotonic() + STOP_TIMEOUT_S
        while time.monotonic() < deadline_s:
            if living(place) is None:
                _wait_until_gone(pid)
                return
            time.sleep(0.1)
    raise ShelfsyncError(f"Process {pid} does not end. End it by hand.")


def _wait_until_gone(pid: int) -> None:
    """Returns when the process has ended; a zombie counts as ended."""
    import psutil

    deadline_s = time.monotonic() + GONE_TIMEOUT_S
    try:
        process = psutil.Process(pid)
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE and time.monotonic() < deadline_s:
            time.sleep(0.05)
    except psutil.NoSuchProcess:
        return


def main() -> int:
    """The command; returns its exit code."""
    keep_private()
    from shelfsync.settings import read_settings

    try:
        down(read_settings(), echo=lambda text: print(f"down  {text}", flush=True))  # noqa: T201
    except ShelfsyncError as error:
        print(f"down: {error}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    return 0
