"""`make up`: starts the process that keeps everything running, shows its log until all is ready, and leaves it running."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, BinaryIO

from shelfsync.access import keep_private
from shelfsync.errors import ShelfsyncError
from shelfsync.local import background, guide
from shelfsync.local.place import Place
from shelfsync.local.stack import living

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from shelfsync.settings import Settings

READY_TIMEOUT_S = 600.0
STOP_TIMEOUT_S = 90.0


def up(settings: Settings, *, echo: Callable[[str], None]) -> int:
    """Returns once everything is ready (0) or has failed. If the stack is up already, it shows the addresses."""
    place = Place(settings.home.absolute())
    ready = place.run / background.READY
    if other := living(place):
        if other.get("what") != background.WHAT or not ready.is_file():
            raise ShelfsyncError(
                f"`{other.get('what')}` (process {other.get('pid')}) is busy in {place.home}. Wait for it, or: make down"
            )
        echo("everything is up already")
        _show(place, ready, echo)
        return 0
    background.stack_options(settings)  # a wrong configuration fails here, at once
    place.make()
    ready.unlink(missing_ok=True)
    log = place.logs / "up.log"
    with open_log(log) as given:
        process = subprocess.Popen(
            [sys.executable, "-m", "shelfsync.local.background"],
            stdin=subprocess.DEVNULL,
            stdout=given,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        return _follow(process, place, log, ready, echo)
    except BaseException:
        echo("stopping")
        _end(process)
        raise


def open_log(log: Path) -> BinaryIO:
    """The log, empty and for its owner alone."""
    opened = os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
    log.chmod(0o600)  # it may have been there
    return opened


def _follow(process: subprocess.Popen[bytes], place: Place, log: Path, ready: Path, echo: Callable[[str], None]) -> int:
    """Shows the log until the stack is ready or its process has ended."""
    deadline_s = time.monotonic() + READY_TIMEOUT_S
    with log.open("r", encoding="utf-8", errors="replace") as result:
        while time.monotonic() < deadline_s:
            ended, is_ready = process.poll(), ready.is_file()  # first the state, then the output before it
            for line in result:
                print(line, end="", flush=True)  # noqa: T201
            if ended is not None:
                return ended or 1
            if is_ready:
                _show(place, ready, echo)
                return 0
            time.sleep(0.2)
    raise ShelfsyncError(f"Not ready within {READY_TIMEOUT_S:.0f} s. Its output: {log}")


def _show(place: Place, ready: Path, echo: Callable[[str], None]) -> None:
    """Straight to the terminal: no log contains passwords."""
    for line in guide.lines(place, guide.Running(**json.loads(ready.read_text("utf-8")))):
        echo(line)
    echo("")
    echo("stop it with: make down")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)  # the next start stops what it leaves


def main() -> int:
    """The command; returns its exit code."""
    keep_private()
    from shelfsync.settings import read_settings

    def echo(text: str) -> None:
        print(f"up  {text}".rstrip(), flush=True)  # noqa: T201

    try:
        return up(read_settings(), echo=echo)
    except ShelfsyncError as error:
        print(f"up: {error}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
