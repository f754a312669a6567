"""`make down`: stops what runs in the state folder, whoever started it, and what a killed run left."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING

from shelfsync.access import keep_private
from shelfsync.errors import ShelfsyncError
from shelfsync.stack.place import Place
from shelfsync.stack.postgres import EmbeddedPostgres
from shelfsync.stack.processes import Processes
from shelfsync.stack.stack import living, stop_leftovers

if TYPE_CHECKING:
    from collections.abc import Callable

    from shelfsync.settings import Settings

STOP_TIMEOUT_S = 90.0


def down(settings: Settings, *, say: Callable[[str], None]) -> None:
    """Nothing of ours runs when this returns, except a PostgreSQL that another command of ours is using right now."""
    place = Place(settings.home.absolute())
    if other := living(place):
        _stop(place, other, say)
    if place.run.is_dir():
        stop_leftovers(Processes(place), say)
    postgres = EmbeddedPostgres(place.home, say=say)
    if postgres.status().running and not postgres.stop_if_unused():
        say("PostgreSQL stays up: a command is using it, and will stop it at its end")
    else:
        say("everything is stopped")


def _stop(place: Place, other: dict[str, object], say: Callable[[str], None]) -> None:
    """Asks the living stack to end, and sees to it."""
    pid = other.get("pid")
    if not isinstance(pid, int):
        raise ShelfsyncError(f"Something holds {place.run / 'stack.lock'} without saying who it is. End it by hand.")
    say(f"stopping `{other.get('what')}` (process {pid})")
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, sign)
        except ProcessLookupError:
            return
        deadline_s = time.monotonic() + STOP_TIMEOUT_S
        while time.monotonic() < deadline_s:
            if living(place) is None:
                return
            time.sleep(0.1)
    raise ShelfsyncError(f"Process {pid} does not end. End it by hand.")


def main() -> int:
    """The command; returns its exit code."""
    keep_private()
    from shelfsync.settings import read_settings

    try:
        down(read_settings(), say=lambda text: print(f"down  {text}", flush=True))  # noqa: T201
    except ShelfsyncError as error:
        print(f"down: {error}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
