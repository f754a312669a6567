"""`make up` starts the process that keeps everything running, shows its log until all is ready, and leaves it running; `make down` stops it.

`python -m shelfsync.local.up` is that process: it starts every service, restarts it if it ends, and stops all on SIGTERM.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, BinaryIO

from shelfsync.chains import chain_names
from shelfsync.errors import ConfigurationError, ShelfsyncError
from shelfsync.file_access import keep_private
from shelfsync.local import demo, destination, guide, sample_chain, services, switches
from shelfsync.local.postgres import EmbeddedPostgres
from shelfsync.local.processes import Processes
from shelfsync.local.services import CUSTOMERS
from shelfsync.local.stack import StackOptions, living, running_stack, stop_leftovers
from shelfsync.local.state_folder import Place, write_whole
from shelfsync.local.supervisor import ServiceFailedError
from shelfsync.secret_mask import mask_streams
from shelfsync.settings import read_settings
from shelfsync.settings.storage_fault import as_its_setting
from shelfsync.settings_file import config_file, local_command

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from shelfsync.settings import Settings

WHAT = "make up"
READY = "ready.json"
LOOK_EVERY_S = 1.0
AGAIN_AFTER_S = 10.0
READY_TIMEOUT_S = 1800.0
STOP_TIMEOUT_S = 90.0
GONE_TIMEOUT_S = 15.0
"""After a process has released its lock, its interpreter still has to end."""


def stack_options(settings: Settings, *, platform: str | None = None, sandbox: bool = False) -> StackOptions:
    """The sample ERP and the sandbox; or what is configured, if `platform` names the configured one. `sandbox`: whatever is configured."""
    if not sandbox:
        if names := chain_names():
            raise ConfigurationError(
                "SHELFSYNC_CHAIN",
                f"`up` serves one chain without a name, or the sandbox, and the settings have {', '.join(names)}",
                "Run the services by docs/how-to/install.md. To use the sandbox and the sample ERP: shelfsync up --sandbox.",
            )
        destination.require(settings, platform)
    if sandbox or settings.platform.base_url is None:
        if not sandbox and (settings.erp.url is not None or settings.erp.files is not None):
            raise ConfigurationError(
                "SHELFSYNC_PLATFORM__BASE_URL",
                "is not set, although an ERP is",
                "Set the platform's address. To use the sandbox and the sample ERP: shelfsync up --sandbox.",
            )
        wanted = demo.stack_options(settings, what=WHAT)
        customers = (CUSTOMERS,) if settings.local.customer_interval_s > 0 else ()
        return replace(wanted, stand_ins=(*wanted.stand_ins, *customers))
    named = config_file()
    config = {services.CONFIG: str(named.absolute())} if named.is_file() else {}
    inherited, unused = services.split({**os.environ, **config}, sample=False)
    secret = settings.webhook.secret
    return StackOptions(
        what=WHAT,
        settings=lambda _addresses, _postgres: config,
        environment=inherited,
        sandbox=False,
        sends_to=destination.platform(settings),
        unused=unused,
        database_url=settings.database_url.get_secret_value() if settings.database_url else None,
        first_receiver_port=settings.webhook.port,
        webhook_secret=secret.get_secret_value() if secret else None,
    )


def keep(settings: Settings, wanted: StackOptions) -> None:
    """Never returns: SIGTERM stops everything and ends it."""
    place = Place(settings.home.absolute())
    with running_stack(place, wanted, echo=_echo) as stack:
        stack.wait_ready()
        if wanted.sandbox:
            sample_chain.prepare(stack, _echo)
        chains, alone = sample_chain.chains(place.home) if wanted.sandbox else ((), None)
        switches.switch(stack, settings.local.paused_dags, _echo, chains=chains, alone=alone)
        ready = place.run / READY
        try:
            write_whole(ready, json.dumps(asdict(guide.running(stack, wanted))))
            while True:
                time.sleep(LOOK_EVERY_S)
                try:
                    stack.watch()
                except (
                    ShelfsyncError
                ) as error:  # a full disk, echo: what still runs goes on, and the next look tries again
                    _echo(str(error))
                    time.sleep(AGAIN_AFTER_S)
        finally:
            ready.unlink(missing_ok=True)


def _echo(text: str) -> None:
    print(f"up  {text}", flush=True)  # noqa: T201  up.py shows it to the person


def background(words: Sequence[str]) -> int:
    """The background process; it writes up.log. It reads the settings again, so it needs the platform's name again."""
    keep_private()
    mask_streams()

    parser = argparse.ArgumentParser(prog="python -m shelfsync.local.up")
    parser.add_argument(destination.OPTION)
    parser.add_argument("--sandbox", action="store_true")
    asked = parser.parse_args(words)
    try:
        settings = read_settings()
        with as_its_setting():
            keep(settings, stack_options(settings, platform=asked.platform, sandbox=asked.sandbox))
    except ServiceFailedError as error:
        for line in error.log_lines:
            print(f"    {line}", flush=True)  # noqa: T201
        _echo(f"failed: {error}")
        return error.exit_code
    except ShelfsyncError as error:
        _echo(f"failed: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


def up(settings: Settings, *, platform: str | None = None, sandbox: bool = False, echo: Callable[[str], None]) -> int:
    """Returns once everything is ready (0) or has failed. If the stack is up already, it shows the addresses."""
    place = Place(settings.home.absolute())
    ready = place.run / READY
    if other := living(place):
        if other.get("what") != WHAT or not ready.is_file():
            raise ShelfsyncError(
                f"`{other.get('what')}` (process {other.get('pid')}) is busy in {place.home}. Wait for it, or: {local_command('down')}"
            )
        running = guide.Running(**json.loads(ready.read_text("utf-8")))
        if sandbox if running.sandbox is None else platform is not None:
            raise ShelfsyncError(
                f"Everything is up already in {place.home}, and sends to {running.sends_to}. Stop it first: {local_command('down')}"
            )
        echo("everything is up already")
        _show(place, running, echo)
        return 0
    if not sandbox and platform is None:
        platform = destination.ask(settings)
    stack_options(settings, platform=platform, sandbox=sandbox)  # a wrong configuration fails here, at once
    words = ["--sandbox"] if sandbox else [destination.OPTION, platform] if platform else []
    place.make()
    ready.unlink(missing_ok=True)
    log = place.logs / "up.log"
    with open_log(log) as given:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "shelfsync.local.up", *words],
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
                _show(place, guide.Running(**json.loads(ready.read_text("utf-8"))), echo)
                return 0
            time.sleep(0.2)
    raise ShelfsyncError(f"Not ready within {READY_TIMEOUT_S:.0f} s. Its output: {log}")


def _show(place: Place, running: guide.Running, echo: Callable[[str], None]) -> None:
    """Straight to the terminal: no log contains passwords."""
    for line in guide.lines(place, running):
        echo(line)
    echo("")
    echo(f"stop it with: {local_command('down')}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)  # the next start stops what it leaves


def down(settings: Settings, *, echo: Callable[[str], None]) -> int:
    """Stops every service of shelfsync, except a PostgreSQL that another command of shelfsync uses right now; returns 0."""
    place = Place(settings.home.absolute())
    if other := living(place):
        _stop_stack(place, other, echo)
    if place.run.is_dir():
        stop_leftovers(Processes(place), echo)
    postgres = EmbeddedPostgres(place.home, echo=echo)
    if postgres.status().running and not postgres.stop_if_unused():
        echo("PostgreSQL stays up: a command is using it, and will stop it at its end")
    else:
        echo("everything is stopped")
    return 0


def _stop_stack(place: Place, other: dict[str, object], echo: Callable[[str], None]) -> None:
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


def main(*, platform: str | None = None, sandbox: bool = False) -> int:
    """The command `make up`; returns its exit code."""
    return _command("up", functools.partial(up, platform=platform, sandbox=sandbox))


def main_down() -> int:
    """The command `make down`; returns its exit code."""
    return _command("down", down)


def _command(name: str, act: Callable[..., int]) -> int:
    keep_private()
    mask_streams()

    def echo(text: str) -> None:
        print(f"{name}  {text}".rstrip(), flush=True)  # noqa: T201

    try:
        with as_its_setting():
            return act(read_settings(), echo=echo)
    except ShelfsyncError as error:
        print(f"{name}: {error}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(background(sys.argv[1:]))
