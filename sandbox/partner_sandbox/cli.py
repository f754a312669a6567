"""`partner-sandbox`: the platform alone; its commands `check` and `play` ask a running sandbox at its control plane."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
from pydantic import ValidationError

if TYPE_CHECKING:
    from partner_sandbox.running import RunningSandbox
    from partner_sandbox.settings import SandboxSettings

ABOUT = "The delivery platform, runnable. What is not given here is read from PARTNER_SANDBOX_… in the environment."
EPILOG = (
    "partner-sandbox check --report: which duties of the interface a client was seen to meet or to break."
    " partner-sandbox play FILE: what happens on the platform, from a file. Each has --help."
)
COMMANDS = ("check", "play")
PORT = 8470
MET, BROKEN, WRONG, INTERRUPTED = 0, 1, 2, 130
"""Exit codes of a command: nothing is against the client; something is; the command could not do its work."""
TICK_S = 0.2
NAMES = ("data", "demo", "dialect", "clock", "seed", "public_url", "storage_url", "expose_control", "control_hosts")


def main(arguments: list[str] | None = None) -> int:
    """Runs until interrupted, or does one of COMMANDS. Exit code 2: invalid arguments. 1: the port or the folder is in use."""
    os.umask(0o027)  # its files hold names and addresses of customers
    words = sys.argv[1:] if arguments is None else arguments
    if words and words[0] in COMMANDS:
        return _run(words)
    given = _parser().parse_args(words)
    from partner_sandbox import demo
    from partner_sandbox.server import Server
    from partner_sandbox.storage import StorageUnusableError

    try:
        settings = _settings(given)
    except (ValidationError, ValueError) as error:
        sys.stderr.write(f"partner-sandbox: {_first_line(error)}\n")
        return 2
    server = Server(settings, host=given.host, port=given.port, storage_port=given.storage_port)

    def ready() -> None:
        lines = [] if given.quiet else demo.first_lines(settings.public_url or server.base_url, demo=settings.demo)
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
def _started(arguments: list[str]) -> Iterator[RunningSandbox]:
    """A sandbox with these arguments in a thread of this process."""
    from partner_sandbox.running import RunningSandbox

    given = _parser().parse_args(arguments)
    try:
        settings = _settings(given)
        running = RunningSandbox(settings, host=given.host, port=given.port, storage_port=given.storage_port).start()
    except (ValidationError, ValueError, OSError) as error:
        raise CommandError(_first_line(error)) from None
    try:
        yield running
    finally:
        running.stop()


def _port(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; give a whole number from 0 to 65535")
    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="partner-sandbox", description=ABOUT, epilog=EPILOG)
    parser.add_argument(
        "--port", type=_port, default=PORT, help=f"{PORT} without it; 0 lets the operating system choose"
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--data", type=Path, help="a folder for its state; in memory without one")
    parser.add_argument("--demo", action="store_const", const=True, help="fill the vendors with products to try with")
    parser.add_argument("--quiet", action="store_true", help="print the address alone, no credentials: for a log")
    parser.add_argument("--dialect", choices=("spec", "live", "legacy"), help="spec without it")
    parser.add_argument("--clock", choices=("real", "virtual"), help="real without it")
    parser.add_argument("--job-seconds", type=float, help="how long a job takes by the sandbox's clock (0.5)")
    parser.add_argument("--seed", type=int, help="identifiers and tokens that repeat")
    parser.add_argument("--public-url", help="its address in links, when it is reached by another one")
    parser.add_argument("--storage-port", type=_port, default=0, help="of the storage host of presigned links")
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
    """From the arguments; the environment gives the others. ValidationError or ValueError for a wrong one."""
    from partner_sandbox.settings import SandboxSettings, behaviour_of

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
    values: dict[str, Any] = {name: getattr(given, name) for name in NAMES if getattr(given, name) is not None}
    if choices:
        values["behaviour"] = choices
    settings = SandboxSettings(**values)
    behaviour_of(settings.dialect, **settings.behaviour)
    return settings


def _first_line(error: Exception) -> str:
    from partner_sandbox.errors import validation_error

    return validation_error(error.errors()).message if isinstance(error, ValidationError) else str(error)


_REPORT_BEGINS = (b"# What the client was seen to do\n", b'{\n  "now": ')


class CommandError(Exception):
    """One line for the terminal."""


def _run(words: list[str]) -> int:
    """Runs the command that the first word names."""
    given, others = _command_parser().parse_known_args(words)
    try:
        code: int = given.run(given, others)
    except KeyboardInterrupt:
        return INTERRUPTED
    except CommandError as error:
        sys.stderr.write(f"partner-sandbox {words[0]}: {error}\n")
        return WRONG
    return code


def _command_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="partner-sandbox")
    commands = parser.add_subparsers(required=True)
    check = commands.add_parser(
        "check",
        help="which duties of the interface a client was seen to meet or to break",
        description="Example: partner-sandbox check --report. Exit code 0: nothing is broken. 1: a duty is. 2: no sandbox answers.",
    )
    check.add_argument("--report", nargs="?", const="-", metavar="FILE", help="print the report, or write it to FILE")
    check.add_argument("--json", action="store_true", help="the report as JSON")
    check.add_argument("--probe", action="store_true", help="first send the last events again, and with a wrong secret")
    check.add_argument("--watch", type=float, default=0, metavar="SECONDS", help="report after so long")
    check.set_defaults(run=_check)
    play = commands.add_parser(
        "play",
        help="what happens on the platform over its clock, from a file",
        description=(
            "Example: partner-sandbox play scenario.yaml. Starts a sandbox and plays the file in it; the options of partner-sandbox"
            " apply. With --url it plays in one that runs. Exit code 0: each step was done. 1: a step failed. 2: it could not play."
        ),
    )
    play.add_argument("file", type=Path, help="YAML or JSON; the sandbox's README shows one: Play a scenario")
    play.add_argument(
        "--exit", action="store_true", help="end with the scenario; else a started sandbox goes on until interrupted"
    )
    play.add_argument(
        "--speed", type=float, metavar="N", help="on a virtual clock: N of its seconds in a second; at once without it"
    )
    play.set_defaults(run=_play)
    for command in (check, play):
        command.add_argument("--url", help=f"the address of the sandbox that runs (check: http://127.0.0.1:{PORT})")
    return parser


def _check(given: argparse.Namespace, others: list[str]) -> int:
    from partner_sandbox.conformance import lines

    given.url = given.url or f"http://127.0.0.1:{PORT}"
    if others:
        raise CommandError(f"there is no argument {others[0]}")
    time.sleep(max(given.watch, 0))
    if given.probe:
        _call(given.url, "POST", "check/probe")
    found = _call(given.url, "GET", "check")
    if given.report or given.json:
        text = json.dumps(found, indent=2) if given.json else "\n".join(lines(found))
        _write(given.report or "-", f"{text}\n")
    if (given.report or ("-" if given.json else "")) != "-":
        sys.stdout.write(f"{found['met']} duties met, {found['broken']} broken, {found['not_seen']} not seen\n")
    return BROKEN if found["broken"] else MET


def _play(given: argparse.Namespace, others: list[str]) -> int:
    try:
        text = given.file.read_bytes()
    except OSError as error:
        raise CommandError(f"cannot read {given.file}: {error.strerror}") from None
    if given.url:
        if others:
            raise CommandError(f"{others[0]} is for a sandbox that play starts; one runs at {given.url}")
        return _follow(given.url, text, given.speed)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with _started(others) as running:
        sys.stdout.write(f"partner-sandbox on {running.base_url}\n")
        code = _follow(running.base_url, text, given.speed)
        if not given.exit:
            sys.stdout.write("the scenario has ended; the sandbox goes on until it is interrupted\n")
            sys.stdout.flush()
            with contextlib.suppress(KeyboardInterrupt):
                running.join()
    return code


def _follow(url: str, text: bytes, speed: float | None) -> int:
    """Plays a scenario to its end and prints each step that has ended; moves a virtual clock."""
    if speed is not None and not 0 < speed < 1e9:
        raise CommandError("--speed must be more than 0")
    state = _call(url, "POST", "scenarios", content=text)
    shown: set[int] = set()
    while True:
        for number, step in enumerate(state["steps"]):
            if step["state"] != "pending" and number not in shown:
                shown.add(number)
                about = " ".join(step[name] for name in ("name", "order_id", "problem") if step[name])
                sys.stdout.write(f"{step['time']} {step['action']} {step['state']} {about}".rstrip() + "\n")
                sys.stdout.flush()
        if state["next_in_s"] is None:
            return BROKEN if state["failed"] else MET
        if state["clock"] == "virtual":
            wait_s = 0.0 if speed is None else min(TICK_S, state["next_in_s"] / speed)
            time.sleep(wait_s)
            seconds = state["next_in_s"] if speed is None else min(state["next_in_s"], wait_s * speed)
            _call(url, "POST", "clock/advance", json={"seconds": seconds})
        else:
            time.sleep(min(TICK_S, state["next_in_s"]) or 0.01)
        state = _call(url, "GET", f"scenarios/{state['play']}")


def _write(to: str, text: str) -> None:
    if to == "-":
        sys.stdout.write(text)
        return
    target = Path(os.path.realpath(to))
    try:
        if target.exists() and not _is_report(target):
            raise CommandError(
                f"{to} exists and is no report, so it is not replaced; name another file, or move it away"
            )
        with tempfile.TemporaryDirectory(prefix=f".{target.name[:40]}.", dir=target.parent) as folder:
            whole = Path(folder) / "report"
            whole.touch(0o600)
            whole.write_text(text, encoding="utf-8")
            whole.replace(target)
    except OSError as error:
        raise CommandError(f"cannot write {to}: {error.strerror}") from None


def _is_report(file: Path) -> bool:
    """Whether it is an empty file or a report of this command."""
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        begin = opened.read(64)
    return not begin or begin.startswith(_REPORT_BEGINS)


def _call(url: str, method: str, path: str, **body: Any) -> Any:
    """A call of the control plane; its JSON."""
    try:
        answer = httpx.request(method, f"{url.rstrip('/')}/_sandbox/{path}", timeout=600, trust_env=False, **body)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        why = str(error) or type(error).__name__
        raise CommandError(f"no sandbox answers at {url} ({why}); start partner-sandbox, or give --url") from None
    try:
        content = answer.json()
    except ValueError:
        raise CommandError(f"{url} is no sandbox: it answered {answer.status_code} without JSON") from None
    if not answer.is_success:
        raise CommandError(content.get("message", answer.text) if isinstance(content, dict) else answer.text)
    return content


if __name__ == "__main__":
    sys.exit(main())
