"""The command line as a script sees it: a process with arguments, an exit code, and JSON on standard output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


@pytest.fixture
def run(tmp_path, database_url, sandbox):
    """Runs `shelfsync` with a small ERP in a file; further settings by name."""
    stock = tmp_path / "stock.csv"
    stock.write_text("vendor,sku,price,quantity,active\nstore-001,a,1.2345,4,1\nstore-001,b,2,4,1\n", encoding="utf-8")
    sandbox.put_products("store-001", [A])
    base = {
        "SHELFSYNC_HOME": str(tmp_path / "home"),
        "SHELFSYNC_DATABASE_URL": database_url,
        "SHELFSYNC_PLATFORM__BASE_URL": sandbox.base_url,
        "SHELFSYNC_PLATFORM__CHAIN": "demo-chain",
        "SHELFSYNC_PLATFORM__CLIENT_ID": "demo-client",
        "SHELFSYNC_PLATFORM__CLIENT_SECRET": "demo-secret",
        "SHELFSYNC_ERP__FILES": str(stock),
        "SHELFSYNC_SYNC__POLL_FIRST_S": "0.1",
        "SHELFSYNC_BUDGET__REQUESTS_PER_MINUTE": "60000",
    }
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SHELFSYNC_", "AIRFLOW_"))}

    def call(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        root = Path(__file__).parents[2]
        return subprocess.run(
            [sys.executable, "-m", "shelfsync", *arguments],
            env=clean | base | settings | {"PYTHONPATH": str(root / "include")},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return call


def test_a_sync_ends_with_0_and_tells_a_script_everything_in_one_document(run):
    done = run("sync", "--full", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["state"], told["sent"], told["accepted"], told["refused"]) == ("succeeded", 2, 1, 1)
    status = json.loads(run("status", "--json").stdout)
    assert [(row["vendor"], row["acknowledged"], row["rejected"]) for row in status["vendors"]] == [("store-001", 1, 1)]


def test_check_warns_that_an_order_would_reach_no_store(run):
    unset = run("check")
    assert unset.returncode == 0, unset.stderr
    assert "warning: SHELFSYNC_ORDERS__HAND_OVER: is not set, so an order reaches no store." in unset.stdout
    assert len(json.loads(run("check", "--json").stdout)["warnings"]) == 1
    on_purpose = run("check", "--json", SHELFSYNC_ORDERS__HAND_OVER="none")
    assert json.loads(on_purpose.stdout) == {"ok": True, "warnings": []}


def test_a_plan_tells_what_would_be_sent_and_sends_nothing(run, sandbox):
    done = run("plan")
    assert done.returncode == 0, done.stderr
    assert "store-001: 2 new" in done.stdout
    assert [entry for entry in sandbox.journal()["entries"] if entry["operation"] == "put_catalog"] == []


@pytest.mark.parametrize("where", ["nowhere/plan.json", "home", "."])
def test_a_plan_for_a_file_that_cannot_be_written_is_exit_code_3_and_one_line(run, tmp_path, where):
    done = run("plan", "--out", where)
    assert done.returncode == 3, done.stderr
    assert "--out" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert list(tmp_path.parent.rglob("*.part")) == []


def test_some_vendors_that_fail_are_exit_code_2_and_named(run, tmp_path):
    (tmp_path / "stock.csv").write_text("vendor,sku,price\nstore-001,a,1\nnowhere,a,1\n", encoding="utf-8")
    done = run("sync", "--vendor", "store-001", "--vendor", "nowhere")
    assert done.returncode == 2, done.stderr
    assert "vendor nowhere failed at deliver" in done.stdout


@pytest.mark.parametrize(
    ("settings", "code", "named"),
    [
        ({"SHELFSYNC_PLATFORM__CLIENT_SECRET": "wrong-canary"}, 3, "SHELFSYNC_PLATFORM__CLIENT_SECRET"),
        ({"SHELFSYNC_DATABASE_URL": "mysql://u:canary@h/d"}, 3, "SHELFSYNC_DATABASE_URL"),
        ({"SHELFSYNC_ERP__FILES": "/nowhere/*.csv"}, 3, "SHELFSYNC_ERP__FILES"),
        ({"SHELFSYNC_SYNC__SHARDS_MAX": "canary"}, 3, "SHELFSYNC_SYNC__SHARDS_MAX"),
    ],
)
def test_a_wrong_configuration_is_exit_code_3_and_one_line(run, settings, code, named):
    done = run("sync", **settings)
    assert done.returncode == code
    lines = done.stderr.strip().splitlines()
    assert named in lines[-1]
    assert len(lines) == 1, done.stderr
    assert "canary" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "command", ["sync", "plan", "check", "settle", "status", "pause", "resume", "up", "down", "demo"]
)
def test_every_command_explains_itself(run, command):
    done = run(command, "--help")
    assert done.returncode == 0
    assert "Usage" in done.stdout


def test_a_sync_of_one_sku_sends_it_alone_and_says_what_became_of_it(run):
    done = run("sync", "--vendor", "store-001", "--sku", "a")
    assert done.returncode == 0, done.stderr
    assert "vendor store-001, SKU 'a': accepted" in done.stdout
    assert json.loads(run("status", "--json").stdout)["vendors"][0]["rejected"] == 0, "the other one did not leave"
    assert "no vendor was named" in run("sync", "--sku", "a").stderr


def test_a_pause_is_seen_by_status_and_by_the_next_sync_until_it_is_resumed(run, sandbox):
    assert run("pause", "--chain", "--why", "wrong prices", "--who", "ada").returncode == 0
    done = run("sync")
    assert (done.returncode, "PAUSED: chain demo-chain is paused by ada" in done.stdout) == (9, True), done.stderr
    assert "wrong prices" in run("status").stdout
    assert [entry for entry in sandbox.journal()["entries"] if entry["operation"] == "put_catalog"] == []
    assert run("resume", "--chain", "--who", "ada").returncode == 0
    assert json.loads(run("sync", "--json").stdout)["accepted"] == 1


@pytest.mark.parametrize("arguments", [(), ("store-001", "--all"), ("--all", "--chain")])
def test_a_pause_names_exactly_one_thing(run, arguments):
    done = run("pause", *arguments, "--why", "because")
    assert done.returncode == 2
    assert "name one of" in done.stderr


def test_explain_and_restore_are_reached_from_the_command_line(run):
    assert run("sync", "--full").returncode == 0
    told = json.loads(run("explain", "store-001", "a", "--json").stdout)
    assert told["sentence"].startswith("It shows 1.23")
    assert "1.234" in run("explain", "store-001", "a", "--at", "2120-01-01").stdout
    early = run("restore", "store-001", "--at", "2020-01-01T10:42", "--plan")
    assert (early.returncode, early.stderr.count("\n")) == (4, 1)
    assert "nothing was acknowledged" in early.stderr
    nothing = run("restore", "store-001", "--end")
    assert (nothing.returncode, nothing.stdout) == (0, "nothing of vendor store-001 is restored\n")
    assert "say --why" in run("restore", "store-001", "--at", "2020-01-01T10:42", "--for", "90m").stderr


def test_the_status_prints_who_restored_what_until_when_and_why(run):
    assert run("sync", "--full").returncode == 0
    then = datetime.now(UTC).isoformat()
    ordered = run("restore", "store-001", "--at", then, "--sku", "a", "--why", "a mistake in the till")
    assert ordered.returncode == 0, ordered.stderr
    said = " ".join(run("status").stdout.split())
    assert "RESTORED: 1 SKUs of vendor store-001 is kept as it was at" in said
    assert "a mistake in the till" in said
    explained = " ".join(run("explain", "store-001", "a").stdout.split())
    assert "A restoration keeps it so, whatever the ERP says" in explained


def test_nothing_that_a_command_writes_can_be_read_by_another_user(run, tmp_path):
    """The state folder itself may be stepped through, for the OS user of PostgreSQL."""
    given = set(tmp_path.rglob("*"))
    before = os.umask(0)
    try:
        for words in (
            ("sync", "--full"),
            ("plan", "--out", "plan.json"),
            ("duckdb", "out.duckdb"),
            ("orders", "list"),
        ):
            done = run(*words)
            assert done.returncode in {0, 2}, done.stderr
    finally:
        os.umask(before)
    written = [path for path in tmp_path.rglob("*") if path not in given]
    assert {"plan.json", "out.duckdb", "lake"} <= {path.name for path in written}
    open_to_all = [f"{path.stat().st_mode:o} {path}" for path in written if path.stat().st_mode & 0o006]
    assert open_to_all == []


def test_nothing_that_the_sandbox_writes_can_be_read_by_another_user(tmp_path):
    before = os.umask(0)
    command = [sys.executable, "-c", "from partner_sandbox.cli import main; main()", "--port", "0", "--data", "state"]
    try:
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "include")},
            stdout=subprocess.PIPE,
            text=True,
        )
    finally:
        os.umask(before)
    try:
        assert process.stdout is not None
        assert "partner-sandbox on" in process.stdout.readline()
        written = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert written
        assert [path for path in written if path.stat().st_mode & 0o007] == []
    finally:
        process.terminate()
        process.communicate(timeout=20)
