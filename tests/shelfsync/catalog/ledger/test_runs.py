"""A run whose process has died: the next run sends, and no run waits for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from shelfsync.catalog.ledger import runs
from shelfsync.cli.run_exit import run_error

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}
PREPARED = (
    "SELECT count(*) FROM ledger.vendor_run WHERE state = 'open' AND released_path IS NOT NULL AND batched_at IS NULL"
)


@pytest.fixture
def shop(world):
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "1.50")
    return world


@pytest.fixture
def full_sync(shop, tmp_path):
    """Starts a full sync in a process of its own; call it to kill the process between guard and batch."""
    settings = {
        "SHELFSYNC_HOME": str(tmp_path / "home"),
        "SHELFSYNC_LAKE_URL": str(tmp_path / "lake"),
        "SHELFSYNC_DATABASE_URL": shop.settings.database_url.get_secret_value(),
        "SHELFSYNC_PLATFORM__BASE_URL": shop.platform.base_url,
        "SHELFSYNC_PLATFORM__CHAIN": "demo-chain",
        "SHELFSYNC_PLATFORM__CLIENT_ID": "demo-client",
        "SHELFSYNC_PLATFORM__CLIENT_SECRET": "demo-secret",
        "SHELFSYNC_ERP__URL": shop.erp.url,
        "SHELFSYNC_ERP__SQL": shop.settings.erp.sql,
        "PYTHONPATH": str(Path(__file__).parents[4] / "include"),
    }
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SHELFSYNC_", "AIRFLOW_"))}
    engine = shop.app.context.engine
    with engine.begin() as lock:
        lock.execute(sa.text("LOCK TABLE ledger.batch IN SHARE MODE"))  # the step batch waits here
        command = [sys.executable, "-m", "shelfsync", "sync", "--full"]
        process = subprocess.Popen(command, env=clean | settings, cwd=tmp_path, stdout=subprocess.PIPE)
        deadline_s = time.monotonic() + 60
        while not shop.rows(PREPARED)[0][0]:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline_s
            time.sleep(0.05)
        yield process
    process.kill()
    process.communicate(timeout=60)


def killed(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=10)


def until_no_session_is_left(world) -> None:
    """The server notices a dead client when it next writes to it; a waiting session is ended by hand, as TCP would."""
    world.rows(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )


@pytest.mark.slow
def test_the_delta_after_a_killed_full_sync_sends(shop, full_sync):
    killed(full_sync)
    until_no_session_is_left(shop)
    run_id, _ = begun(shop)
    assert state_of(shop, run_id) == "open"


def test_the_delta_beside_a_living_full_sync_lets_it_pass(shop):
    full, _ = shop.begin("full", upto="guard")
    with runs.at_work(shop.app.context.engine, full, whole=True):
        run_id, _ = begun(shop)
    ((state, error),) = shop.rows(f"SELECT state, error FROM ledger.vendor_run WHERE run_id = {run_id}")
    assert state == "busy"
    assert "full sync" in error


def test_between_two_tasks_a_run_is_alive_for_as_long_as_a_scheduler_may_take(shop):
    full, _ = shop.begin("full", upto="guard")
    run_id, _ = begun(shop)
    assert state_of(shop, run_id) == "busy"
    with shop.app.context.engine.begin() as connection:
        silent = f"UPDATE ledger.vendor_run SET updated_at = updated_at - interval '3 minutes' WHERE run_id = {full}"
        connection.execute(sa.text(silent))
        connection.execute(
            sa.text(f"UPDATE ledger.run SET started_at = started_at - interval '1 hour' WHERE run_id = {full}")
        )
    run_id, _ = begun(shop)
    assert state_of(shop, run_id) == "open"


@pytest.mark.slow
def test_a_run_that_passed_a_vendor_over_reports_it_and_the_second_in_a_row_raises_one_alarm(shop):
    full, _ = shop.begin("full", upto="guard")
    with runs.at_work(shop.app.context.engine, full, whole=True):
        summaries = [shop.sync("delta") for _ in range(3)]
    assert [one["state"] for one in summaries] == ["partly"] * 3
    assert "store-001" in summaries[0]["error"]
    assert [len(one["alarms"]) for one in summaries] == [0, 1, 0]
    assert "store-001 was passed over by two runs in a row" in summaries[1]["alarms"][0]
    assert run_error(summaries[0]).exit_code == 9


@pytest.mark.slow
def test_a_full_sync_superseded_by_a_newer_run_blocks_no_run(shop):
    full, _ = shop.begin("full", upto="guard")
    assert shop.sync("full")["state"] == "succeeded"
    shop.erp.put("store-001", "a", "2.50")
    with runs.at_work(shop.app.context.engine, full, whole=True):
        assert shop.sync("delta")["sent"] == 1


def state_of(world, run_id: int) -> str:
    ((state,),) = world.rows(f"SELECT state FROM ledger.vendor_run WHERE run_id = {run_id}")
    return state


def begun(world) -> tuple[int, list[str]]:
    return world.begin("delta", upto="diff")
