"""A process that freezes while it holds a vendor, and wakes when others have gone on: it writes nothing and sends nothing (I4 to I6)."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest

from small_erp import SQL

pytestmark = pytest.mark.slow

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}
LEASE_S = 1.0
TABLES = ("vendor", "vendor_run", "batch", "job", "baseline", "rejection", "lease")
WORKER = Path(__file__).with_name("step_worker.py")


def _shelf(world):
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "1.00")
    assert world.sync("full")["accepted"] == 1
    world.erp.put("store-001", "a", "2.00")


@pytest.fixture
def shelf(world_after):
    return world_after(_shelf, sync={"poll_first_s": 0.05, "poll_max_s": 0.1, "job_deadline_s": 30, "lease_s": LEASE_S})


@contextlib.contextmanager
def _process(world, word, run_id):
    """The step in a process of its own."""
    include = Path(__file__).parents[4] / "include"
    variables = {
        "SHELFSYNC_HOME": str(world.settings.home),
        "SHELFSYNC_DATABASE_URL": world.settings.database_url.get_secret_value(),
        "SHELFSYNC_LAKE_URL": world.settings.lake,
        "SHELFSYNC_PLATFORM__BASE_URL": world.platform.base_url,
        "SHELFSYNC_PLATFORM__CHAIN": "demo-chain",
        "SHELFSYNC_PLATFORM__CLIENT_ID": "demo-client",
        "SHELFSYNC_PLATFORM__CLIENT_SECRET": "demo-secret",
        "SHELFSYNC_ERP__URL": world.erp.url,
        "SHELFSYNC_ERP__SQL": SQL,
        "SHELFSYNC_SYNC__LEASE_S": str(LEASE_S),
        "SHELFSYNC_RATE_LIMIT__REQUESTS_PER_MINUTE": "60000",
        "PYTHONPATH": str(include),
        "PATH": os.environ["PATH"],
    }
    command = [sys.executable, str(WORKER), word, str(run_id), "store-001"]
    process = subprocess.Popen(
        command, env=variables, stdout=subprocess.PIPE, text=True, cwd=world.settings.home.parent
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()


def _until(what, why, deadline_s=90.0):
    end_s = time.monotonic() + deadline_s
    while not what():
        assert time.monotonic() < end_s, why
        time.sleep(0.02)


def _ledger(world):
    return {name: world.rows(f"SELECT * FROM ledger.{name} ORDER BY 1, 2") for name in TABLES}


def _others_go_on(world):
    """What the frozen one left is finished, and a newer price goes out."""

    def recovered():
        world.app.recover()
        return not world.rows("SELECT 1 FROM ledger.job WHERE state IN ('submitting', 'open', 'confirmed')")

    _until(recovered, "no process took the vendor over")
    world.erp.put("store-001", "a", "3.00")
    summary = world.sync("delta")
    assert summary["accepted"] == 1, summary["lines"]


def _wakes(process):
    process.send_signal(signal.SIGCONT)
    output, _ = process.communicate(timeout=60)
    return json.loads(output)


def _taken(world):
    """Requests that the platform has accepted."""
    return len([entry for entry in world.sent() if entry["status"] == 202])


def _price(world):
    return Decimal(str(world.shown()["a"]["price"]))


def test_a_process_frozen_while_it_waits_for_its_answer_writes_nothing_when_it_wakes(shelf):
    run_id, _ = shelf.begin("delta", upto="batch")
    shelf.platform.faults({"at": "put_catalog", "kind": "never_answer", "seconds": 20.0, "times": 1})
    with _process(shelf, "deliver", run_id) as frozen:
        _until(lambda: shelf.platform.control("GET", "faults")["rules"][0]["struck"], "the request never came")
        frozen.send_signal(signal.SIGSTOP)
        _others_go_on(shelf)
        before, taken = _ledger(shelf), _taken(shelf)
        report = _wakes(frozen)
    assert report["failed"] == {}
    assert "taken over" in report["skipped"]["store-001"]
    assert _ledger(shelf) == before
    assert (_taken(shelf), _price(shelf)) == (taken, 3)


def test_a_process_frozen_at_the_gate_sends_nothing_when_it_wakes(shelf):
    """It has locked its row and waits for its slot. When it wakes, the platform has a newer price."""
    run_id, _ = shelf.begin("delta", upto="batch")
    _pause(shelf, "ledger.instant() + interval '5 minutes'")
    with _process(shelf, "deliver", run_id) as frozen:
        _until(lambda: shelf.rows("SELECT 1 FROM rate_limit.ticket"), "it never came to the gate")
        frozen.send_signal(signal.SIGSTOP)
        _pause(shelf, "NULL")
        _others_go_on(shelf)
        before, taken = _ledger(shelf), _taken(shelf)
        report = _wakes(frozen)
    assert "taken over" in report["skipped"]["store-001"]
    assert _ledger(shelf) == before
    assert (_taken(shelf), _price(shelf)) == (taken, 3)


def _pause(world, until):
    import sqlalchemy as sa

    with world.app.context.engine.begin() as connection:
        connection.execute(sa.text(f"UPDATE rate_limit.allowance SET paused_until = {until}"))
