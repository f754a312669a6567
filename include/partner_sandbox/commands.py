"""The commands beside the server: each asks a running sandbox at its control plane."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import httpx

PORT = 8470
MET, BROKEN, WRONG = 0, 1, 2
"""Exit codes: nothing is against the client; something is; the command could not do its work."""


class CommandError(Exception):
    """One line for the terminal."""


def run(words: list[str]) -> int:
    """Runs the command that the first word names."""
    given = _parser().parse_args(words)
    try:
        code: int = given.run(given)
    except CommandError as error:
        sys.stderr.write(f"partner-sandbox {words[0]}: {error}\n")
        return WRONG
    return code


def _parser() -> argparse.ArgumentParser:
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
    for command in (check,):
        command.add_argument("--url", default=f"http://127.0.0.1:{PORT}", help="the sandbox's address (%(default)s)")
    return parser


def _check(given: argparse.Namespace) -> int:
    from partner_sandbox.conformance.report import lines

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


def _write(to: str, text: str) -> None:
    if to == "-":
        sys.stdout.write(text)
        return
    try:
        Path(to).write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"cannot write {to}: {error.strerror}") from None


def _call(url: str, method: str, path: str, **body: Any) -> Any:
    """A call of the control plane; its JSON."""
    try:
        answer = httpx.request(method, f"{url.rstrip('/')}/_sandbox/{path}", timeout=600, trust_env=False, **body)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        why = str(error) or type(error).__name__
        raise CommandError(f"no sandbox answers at {url} ({why}); start partner-sandbox, or give --url") from None
    try:
        told = answer.json()
    except ValueError:
        raise CommandError(f"{url} is no sandbox: it answered {answer.status_code} without JSON") from None
    if not answer.is_success:
        raise CommandError(told.get("message", answer.text) if isinstance(told, dict) else answer.text)
    return told
