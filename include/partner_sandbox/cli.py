"""`partner-sandbox`: the platform alone; `partner-sandbox check` looks at one that runs."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from partner_sandbox import commands
from partner_sandbox.commands import PORT

if TYPE_CHECKING:
    from partner_sandbox.running import RunningSandbox
    from partner_sandbox.settings import SandboxSettings

ABOUT = "The delivery platform, runnable. What is not given here is read from PARTNER_SANDBOX_… in the environment."
EPILOG = (
    "partner-sandbox check --report: which duties of the interface a client was seen to meet or to break."
    " partner-sandbox play FILE: what happens on the platform, from a file. Each has --help."
)
COMMANDS = ("check", "play")
NAMES = ("data", "demo", "dialect", "clock", "seed", "public_url", "storage_url", "expose_control", "control_hosts")


def main(arguments: list[str] | None = None) -> int:
    """Runs until interrupted, or does one of COMMANDS. Exit code 2: invalid arguments. 1: the port or the folder is in use."""
    os.umask(0o027)  # its files hold names and addresses of customers
    words = sys.argv[1:] if arguments is None else arguments
    if words and words[0] in COMMANDS:
        return commands.run(words)
    given = _parser().parse_args(words)
    from partner_sandbox import guide
    from partner_sandbox.server import Server
    from partner_sandbox.storage import StorageUnusableError

    try:
        settings = _settings(given)
    except (ValidationError, ValueError) as error:
        sys.stderr.write(f"partner-sandbox: {_first_line(error)}\n")
        return 2
    server = Server(settings, host=given.host, port=given.port, storage_port=given.storage_port)

    def ready() -> None:
        lines = [] if given.quiet else guide.first_lines(settings.public_url or server.base_url, demo=settings.demo)
        sys.stdout.write(f"partner-sandbox on {server.base_url} (dialect {settings.dialect}, {settings.clock} clock)\n")
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()

    async def run() -> None:
        server.stop_on_signals(asyncio.get_running_loop())
        await server.serve(ready)

    try:
        asyncio.run(run())
    except StorageUnusableError as error:
        sys.stderr.write(f"partner-sandbox: {error}\n")
        return 1
    except OSError as error:
        why = error.strerror or error
        sys.stderr.write(f"partner-sandbox: cannot listen on {given.host}:{given.port}: {why}; try --port 0\n")
        return 1
    return 0


@contextlib.contextmanager
def started(arguments: list[str]) -> Iterator[RunningSandbox]:
    """A sandbox with these arguments in a thread of this process."""
    from partner_sandbox.running import RunningSandbox

    given = _parser().parse_args(arguments)
    try:
        settings = _settings(given)
        running = RunningSandbox(settings, host=given.host, port=given.port, storage_port=given.storage_port).start()
    except (ValidationError, ValueError, OSError) as error:
        raise commands.CommandError(_first_line(error)) from None
    try:
        yield running
    finally:
        running.stop()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="partner-sandbox", description=ABOUT, epilog=EPILOG)
    parser.add_argument("--port", type=int, default=PORT, help=f"{PORT} without it; 0 lets the operating system choose")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--data", type=Path, help="a folder for its state; in memory without one")
    parser.add_argument("--demo", action="store_const", const=True, help="fill the vendors with products to try with")
    parser.add_argument("--quiet", action="store_true", help="print the address alone, no credentials: for a log")
    parser.add_argument("--dialect", choices=("spec", "live", "legacy"), help="spec without it")
    parser.add_argument("--clock", choices=("real", "virtual"), help="real without it")
    parser.add_argument("--job-seconds", type=float, help="how long a job takes by the sandbox's clock (0.5)")
    parser.add_argument("--seed", type=int, help="identifiers and tokens that repeat")
    parser.add_argument("--public-url", help="its address in links, when it is reached by another one")
    parser.add_argument("--storage-port", type=int, default=0, help="of the storage host of presigned links")
    parser.add_argument("--storage-url", help="the storage host's address in links, when it is reached by another one")
    parser.add_argument(
        "--expose-control", action="store_const", const=True, help="answer the control plane to other machines too"
    )
    parser.add_argument(
        "--control-host",
        action="append",
        dest="control_hosts",
        metavar="NAME",
        help="a name that the control plane is called by",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="one choice on top of the dialect"
    )
    return parser


def _settings(given: argparse.Namespace) -> SandboxSettings:
    """ValidationError or ValueError for a wrong one."""
    from partner_sandbox.settings import SandboxSettings, behaviour_of

    settings = SandboxSettings(**_arguments(given))
    behaviour_of(settings.dialect, **settings.behaviour)
    return settings


def _arguments(given: argparse.Namespace) -> dict[str, Any]:
    """The settings from the arguments; the environment gives the others."""
    values = {name: getattr(given, name) for name in NAMES if getattr(given, name) is not None}
    choices = _choices(given)
    return {**values, "behaviour": choices} if choices else values


def _choices(given: argparse.Namespace) -> dict[str, Any]:
    choices: dict[str, Any] = {}
    for text in given.set:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--set {text}: write NAME=VALUE")
        try:
            choices[name] = json.loads(value)
        except ValueError:
            choices[name] = value
    if given.job_seconds is not None:
        choices["job_seconds"] = given.job_seconds
    return choices


def _first_line(error: Exception) -> str:
    from partner_sandbox.errors import validation_error

    return validation_error(error.errors()).message if isinstance(error, ValidationError) else str(error)


if __name__ == "__main__":
    sys.exit(main())
