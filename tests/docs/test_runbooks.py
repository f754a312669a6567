"""Every command and statement that a runbook or the security page names is there as it is written, and each change of a secret works."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
import sqlalchemy as sa
import typer.main

from receiver_fixture import LiveReceiver, request
from shelfsync.cli.app import app
from shelfsync.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "SECURITY.md", ROOT / "docs/receiver.md", *sorted((ROOT / "docs/runbooks").glob("*-*.md"))]
TEXT = {page.name: page.read_text("utf-8") for page in PAGES}
COMMANDS = sorted(
    {
        (name, re.sub(r"\s+", " ", found).split("  #")[0].strip())
        for name, text in TEXT.items()
        for found in [
            *re.findall(r"`(shelfsync [^`]+)`", text),
            *re.findall(r"^(shelfsync [^#\n]+)", text, re.MULTILINE),
        ]
    }
)
STATEMENTS = sorted(
    {(name, found) for name, text in TEXT.items() for found in re.findall(r'psql "[^"]+" -c "([^"]+)"`', text)}
)
LINKS = sorted({(page, link) for page in PAGES for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", TEXT[page.name])})


def test_there_is_something_to_look_at():
    assert {name for name, _ in COMMANDS} >= set(TEXT)
    assert len(STATEMENTS) >= 3


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_every_command_is_there_with_its_options(page, line):
    words = shlex.split(line)[1:]
    command: click.Command = typer.main.get_command(app)
    context = click.Context(command, info_name="shelfsync")
    while isinstance(command, click.Group) and words:
        found = command.get_command(context, words[0])
        assert found is not None, f"{page}: {line}"
        command, words = found, words[1:]
        context = click.Context(command, info_name=command.name, parent=context)
    words = ["1" if word in {"EVENT", "N"} else word for word in words]
    if words:
        command.make_context(
            command.name, words, parent=context.parent
        )  # raises for an unknown option or a lacking word
    assert not isinstance(command, click.Group), f"{page}: {line} lacks its command"


@pytest.mark.parametrize(("page", "statement"), STATEMENTS)
def test_every_statement_runs(page, statement, engine):
    with engine.begin() as connection:
        connection.execute(sa.text(statement.replace("= N", "= 1")))


def test_every_link_leads_somewhere():
    assert [str(page) for page, link in LINKS if not (page.parent / link).exists()] == []


def test_every_setting_is_there():
    known = {"SHELFSYNC_CONFIG"}
    for name, field in Settings.model_fields.items():
        known.add(f"SHELFSYNC_{name}".upper())
        inner = getattr(field.annotation, "model_fields", {})
        known |= {f"SHELFSYNC_{name}__{one}".upper() for one in inner}
    named = {one for text in TEXT.values() for one in re.findall(r"SHELFSYNC_[A-Z_]+[A-Z](?![A-Z_…])", text)}
    assert named - known == set()


def test_the_secret_of_the_webhook_is_changed_without_losing_a_genuine_event(database_url, engine):
    """The steps of leaked-webhook-secret.md: which of the two is accepted before, during and after the change."""
    old, new = "canary-leaked-secret", "canary-fresh-secret"
    steps = [
        ({"SECRET": old}, {old: b"200", new: b"401"}),
        ({"SECRET": new, "SECRET_PREVIOUS": old}, {old: b"200", new: b"200"}),
        ({"SECRET": new}, {old: b"401", new: b"200"}),
    ]
    number = 0
    for settings, expected in steps:
        with LiveReceiver(
            database_url, **{f"SHELFSYNC_WEBHOOK__{name}": one for name, one in settings.items()}
        ) as live:
            for secret, status in expected.items():
                number += 1
                assert _status(live.port, request(b'{"job_id": "%d"}' % number, secret=secret)) == status
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM inbox.event").scalar_one() == 4


def _status(port: int, call: bytes) -> bytes:
    import socket

    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(call)
        return connection.recv(1024)[9:12]
