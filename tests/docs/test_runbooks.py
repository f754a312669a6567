"""Every statement that a runbook or the security page names runs as it is written, and each change of a secret works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sqlalchemy as sa

from receiver_fixture import LiveReceiver, request
from shelfsync.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "docs/explanation/security.md",
    ROOT / "docs/how-to/receiver.md",
    *sorted((ROOT / "docs/how-to/runbooks").glob("*-*.md")),
]
TEXT = {page.name: page.read_text("utf-8") for page in PAGES}
STATEMENTS = sorted(
    {(name, found) for name, text in TEXT.items() for found in re.findall(r'psql "[^"]+" -c "([^"]+)"`', text)}
)
LINKS = sorted({(page, link) for page in PAGES for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", TEXT[page.name])})


def test_there_is_something_to_look_at():
    assert len(STATEMENTS) >= 3


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


@pytest.mark.slow
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
