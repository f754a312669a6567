"""The whole file of an installation with orders, failures and foreign logs is looked through for canaries."""

from __future__ import annotations

import json
import stat

import pytest

import canaries
from commands_here import commands_here
from shelfsync.doctor import cleaned


@pytest.fixture
def doctor(world, tmp_path, monkeypatch, capsys):
    """Runs `shelfsync doctor FILE` over the world's installation: the text of the file."""
    settings = world.settings
    environment = {
        "SHELFSYNC_HOME": str(settings.home),
        "SHELFSYNC_DATABASE_URL": settings.database_url.get_secret_value(),
        "SHELFSYNC_LAKE_URL": settings.lake_url,
        "SHELFSYNC_PLATFORM__BASE_URL": settings.platform.base_url,
        "SHELFSYNC_PLATFORM__CHAIN": "demo-chain",
        "SHELFSYNC_PLATFORM__CLIENT_ID": "demo-client",
        "SHELFSYNC_PLATFORM__CLIENT_SECRET": "demo-secret",
        "SHELFSYNC_ERP__URL": settings.erp.url.get_secret_value(),
        "SHELFSYNC_ERP__SQL": settings.erp.sql,
        "SHELFSYNC_WEBHOOK__SECRET": "canary-webhook-1",
        "SHELFSYNC_ALERTS__ROUTES": json.dumps(
            [{"name": "ops", "address": "json://user:canary-password-7@hooks.example.com/x"}]
        ),
    }
    with commands_here(environment, tmp_path, monkeypatch, capsys) as call:

        def run(**more):
            for name, value in more.items():
                monkeypatch.setenv(name, value)
            (tmp_path / "doctor.json").touch(0o644)
            code, _, complaint = call("doctor", "doctor.json")
            assert code == 0, complaint
            assert stat.S_IMODE((tmp_path / "doctor.json").stat().st_mode) == 0o600
            return (tmp_path / "doctor.json").read_text("utf-8")

        yield run


@pytest.mark.slow
def test_an_older_database_is_read_and_not_migrated(world, doctor):
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE shelfsync_revision SET version_num = 'older'")
    found = json.loads(doctor())
    assert found["database"]["revision"] == "older"
    assert "error" in found["context"]
    assert world.rows("SELECT version_num FROM shelfsync_revision") == [("older",)]


@pytest.mark.slow
def test_the_file_has_what_a_maintainer_needs_and_no_canary(world, doctor):
    world.erp.put("store-001", "a")
    world.platform.put_products("store-001", [{"sku": "a", "title": "a", "price": 1.0, "active": True}])
    world.sync("full")
    world.app.pause("vendor", "store-001", why="stocktaking", who="Grace Hopper")
    logs = world.settings.home / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    log = logs / "foreign.log"
    log.write_text(
        "x" * 20_000
        + "\nsecret demo-secret\nhook canary-webhook-1\ncall +447700900123 or robin@example.com\nlast line\n",
        "utf-8",
    )
    try:
        text = doctor()
    finally:
        log.unlink()  # or this session would find them in it
    seen: list[str] = []
    canaries.look("the file", text, seen)
    assert seen == []
    for word in ("demo-secret", "canary", "robin@", "7700900", "Grace"):
        assert word not in text, word
    found = json.loads(text)
    assert found["logs"]["logs/foreign.log"][-1] == "last line"
    assert found["check"]["problems"] == {}
    assert found["runs"][0]["state"] == "succeeded"
    assert found["database"]["jobs"] == [{"state": "catalog acknowledged", "count": 1}]
    assert {row["table"] for row in found["database"]["tables"]} >= {
        "ledger.run",
        "warehouse.baseline",
        "rate_limit.usage",
    }
    assert found["versions"]["shelfsync"]
    assert any(row["name"] == "platform.client_secret" and row["value"] == "***" for row in found["settings"])


def test_a_broken_installation_has_its_file_too(doctor, world):
    log = world.settings.home / "logs" / "receiver.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("everything is paused by Grace Hopper since 3\nlast line\n", "utf-8")
    text = doctor(SHELFSYNC_DATABASE_URL="postgresql://user:canary-password-3@127.0.0.1:1/none")
    log.unlink()
    found = json.loads(text)
    assert "no connection to 127.0.0.1:1/none" in found["context"]["error"]
    assert found["logs"]["logs/receiver.log"] == ["everything is paused by ***", "last line"]
    assert found["settings"]
    assert found["versions"]["python"]


def test_a_database_without_tables_is_told_in_words(doctor, empty_database_url):
    found = json.loads(doctor(SHELFSYNC_DATABASE_URL=empty_database_url))
    assert found["database"]["tables"] == "none of shelfsync; `shelfsync check` makes them"
    assert "PostgreSQL" in found["database"]["server"]
    assert "persons" not in found
    assert "does not exist" not in json.dumps(found)


def test_what_may_name_a_person_is_masked():
    assert cleaned(
        {"by": ["paused by ada since 3", "mail ada@example.com", "tel +44 7700 900123", 7, None]}, ["ada"]
    ) == {"by": ["paused by *** since 3", "mail ***", "tel ***", 7, None]}
