"""`shelfsync inbox`: an operator lists events and replays some."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

from documents import data
from shelfsync.cli.app import app
from shelfsync.errors import DataError
from shelfsync.inbox import events
from shelfsync.inbox.event_body import read
from shelfsync.inbox.events import event
from waiting_events import unprocessed_jobs

ORDER = {"order_id": "o-1", "status": "RECEIVED", "customer": {"first_name": "Robin Example", "phone": "+447700900123"}}


@pytest.fixture
def call(make_settings, engine, monkeypatch):
    """The command in this process, with the settings of this test."""
    settings = make_settings()
    for name, value in {
        "HOME": settings.home,
        "DATABASE_URL": settings.database_url.get_secret_value(),
        "PLATFORM__BASE_URL": settings.platform.base_url,
        "PLATFORM__CHAIN": settings.platform.chain,
        "PLATFORM__CLIENT_ID": settings.platform.client_id,
        "PLATFORM__CLIENT_SECRET": settings.platform.client_secret.get_secret_value(),
        "ERP__URL": settings.erp.url.get_secret_value(),
        "ERP__SQL": settings.erp.sql,
    }.items():
        monkeypatch.setenv(f"SHELFSYNC_{name}", str(value))
    return lambda *arguments: CliRunner().invoke(app, ["inbox", *arguments])


@pytest.fixture
def arrived(engine):
    """Event numbers of two events of job 17, processed, one of job 9, and an order's."""
    bodies = [
        {"job_id": "17", "status": "QUEUED"},
        {"job_id": "17", "status": "COMPLETED", "download_url": "https://h/1?X-Amz-Signature=canary-signature"},
        {"job_id": "9", "status": "FAILED"},
        ORDER,
    ]
    with engine.begin() as connection:
        numbers = []
        for body in bodies:
            got = read(json.dumps(body).encode())
            values = {name: getattr(got, name) for name in ("kind", "identity", "platform_job_id", "vendor", "body")}
            numbers.append(connection.execute(sa.insert(event).values(values).returning(event.c.event_id)).scalar_one())
        events.mark_processed(connection, "17", up_to=numbers[1])
    return numbers


def test_events_are_listed_without_anything_of_what_is_in_them(call, arrived):
    ended = call("list")
    assert ended.exit_code == 0
    assert len(ended.stdout.splitlines()) == 4
    assert "canary" not in ended.stdout
    assert "Robin" not in ended.stdout
    assert "o-1" not in ended.stdout
    waiting = data(call("list", "--waiting", "--kind", "job", "--json").stdout)["events"]
    assert [row["platform_job_id"] for row in waiting] == ["9"]


def test_a_jobs_events_are_read_again_all_of_them_however_often(call, arrived, engine):
    for _ in range(2):
        output = data(call("replay", str(arrived[0]), "--json").stdout)
        assert output["replayed"] == [{"platform_job_id": "17", "events": 2}]
    with engine.connect() as connection:
        assert set(unprocessed_jobs(connection)) == {"17", "9"}


def test_an_orders_event_is_not_replayed_and_nothing_else_with_it(call, arrived, engine):
    ended = call("replay", str(arrived[0]), str(arrived[3]))
    assert isinstance(ended.exception, DataError)
    assert "orders_history reads the order again" in str(ended.exception)
    assert isinstance(call("replay", "4711").exception, DataError)
    with engine.connect() as connection:
        assert unprocessed_jobs(connection) == ["9"]


def test_a_quarantined_order_event_is_listed_with_its_reason_and_replayed(call, arrived, engine):
    with engine.begin() as connection:
        values = {"processed_at": sa.func.now(), "quarantine_reason": "InvalidOperation in cart.py, line 7"}
        connection.execute(sa.update(event).where(event.c.event_id == arrived[3]).values(values))
    ended = call("list", "--quarantined")
    assert len(ended.stdout.splitlines()) == 1
    assert "quarantined: InvalidOperation in cart.py, line 7" in ended.stdout
    assert "Robin" not in ended.stdout
    again = call("replay", str(arrived[3]), "--json")
    assert (again.exit_code, data(again.stdout)["taken"]) == (0, {"events": 1, "orders": 1, "quarantined": 0})
    assert call("list", "--quarantined").stdout.strip() == "no event was received"
