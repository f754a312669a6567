"""The command line as a script sees it: a process with arguments, an exit code, and JSON on standard output."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commands_here import commands_here
from documents import data, error
from shelfsync.erp.sample import CHANGE_TABLE_FILE, CHANGES_FILE


@pytest.mark.slow
def test_a_sync_ends_with_0_and_prints_one_document_for_a_script(process):
    done = process("sync", "--full", "--json")
    assert done.returncode == 0, done.stderr
    document = data(done.stdout)
    assert (document["state"], document["sent"], document["accepted"], document["rejected"]) == ("succeeded", 2, 1, 1)
    status = data(process("status", "--json").stdout)
    assert [(row["vendor"], row["acknowledged"], row["rejected"]) for row in status["vendors"]] == [("store-001", 1, 1)]


@pytest.mark.slow
def test_check_warns_that_an_order_would_reach_no_store(run):
    unset = run("check")
    assert unset.returncode == 0, unset.stderr
    assert "warning: SHELFSYNC_ORDERS__HAND_OVER: is not set, so an order reaches no store." in unset.stdout
    price, order = data(run("check", "--json").stdout)["warnings"]
    assert "HAND_OVER" in order
    on_purpose = run("check", "--json", SHELFSYNC_ORDERS__HAND_OVER="none")
    assert data(on_purpose.stdout)["warnings"] == [price]


@pytest.mark.slow
def test_a_plan_shows_what_would_be_sent_and_sends_nothing(run, sandbox):
    done = run("plan")
    assert done.returncode == 0, done.stderr
    assert "store-001: 2 new" in done.stdout
    assert [entry for entry in sandbox.journal()["entries"] if entry["operation"] == "put_catalog"] == []


@pytest.mark.slow
@pytest.mark.parametrize("where", ["nowhere/plan.json", "home", "."])
def test_a_plan_for_a_file_that_cannot_be_written_is_exit_code_3_and_one_line(run, tmp_path, where):
    done = run("plan", "--out", where)
    assert done.returncode == 3, done.stderr
    assert "--out" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert list(tmp_path.parent.rglob("*.part")) == []


@pytest.mark.slow
def test_some_vendors_that_fail_are_exit_code_9_and_named(run, tmp_path):
    (tmp_path / "stock.csv").write_text("vendor,sku,price\nstore-001,a,1\nnowhere,a,1\n", encoding="utf-8")
    done = run("sync", "--vendor", "store-001", "--vendor", "nowhere")
    assert done.returncode == 9, done.stderr
    assert "vendor nowhere failed at deliver" in done.stdout
    assert done.stderr.splitlines()[-1].startswith("shelfsync: 1 of 2 vendors failed [")
    document = run("sync", "--vendor", "store-001", "--vendor", "nowhere", "--json")
    assert (document.returncode, data(document.stdout)["state"]) == (9, "partly_failed")


@pytest.mark.slow
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
    failed = run("sync", "--json", **settings)
    document = error(failed.stdout)
    assert (failed.returncode, failed.stderr.count("\n"), document["code"]) == (code, 1, "configuration")
    assert named in document["message"].partition(": ")[0]
    assert document["remedy"]
    assert "canary" not in failed.stdout


@pytest.mark.slow
def test_a_sync_of_one_sku_sends_it_alone_and_prints_its_outcome(run):
    done = run("sync", "--vendor", "store-001", "--sku", "a")
    assert done.returncode == 0, done.stderr
    assert "vendor store-001, SKU 'a': accepted" in done.stdout
    assert data(run("status", "--json").stdout)["vendors"][0]["rejected"] == 0, "the other one did not leave"
    assert "no vendor was named" in run("sync", "--sku", "a").stderr


@pytest.mark.slow
def test_explain_and_restore_are_reached_from_the_command_line(run):
    assert run("sync", "--full").returncode == 0
    document = data(run("explain", "store-001", "a", "--json").stdout)
    assert document["sentence"].startswith("The platform acknowledged 1.23")
    assert "1.234" in run("explain", "store-001", "a", "--at", "2120-01-01").stdout
    early = run("restore", "store-001", "--at", "2020-01-01T10:42", "--dry-run")
    assert (early.returncode, early.stderr.count("\n")) == (4, 1)
    assert "nothing was acknowledged" in early.stderr
    nothing = run("restore", "store-001", "--end")
    assert (nothing.returncode, nothing.stdout) == (0, "nothing of vendor store-001 is restored\n")
    assert "give a reason" in run("restore", "store-001", "--at", "2020-01-01T10:42", "--duration", "90m").stderr


@pytest.mark.slow
def test_the_status_prints_who_restored_what_until_when_and_why(run):
    assert run("sync", "--full").returncode == 0
    then = datetime.now(UTC).isoformat()
    ordered = run("restore", "store-001", "--at", then, "--sku", "a", "--reason", "a mistake in the till")
    assert ordered.returncode == 0, ordered.stderr
    status = " ".join(run("status").stdout.split())
    assert "RESTORED: 1 SKUs of store store-001 is kept as it was at" in status
    assert "a mistake in the till" in status
    explained = " ".join(run("explain", "store-001", "a").stdout.split())
    assert "A restoration keeps these values" in explained


@pytest.mark.slow
def test_nothing_that_a_command_writes_can_be_read_by_another_user(process, tmp_path):
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
            done = process(*words)
            assert done.returncode in {0, 9}, done.stderr
    finally:
        os.umask(before)
    written = [path for path in tmp_path.rglob("*") if path not in given]
    assert {"plan.json", "out.duckdb", "lake"} <= {path.name for path in written}
    open_to_all = [f"{path.stat().st_mode:o} {path}" for path in written if path.stat().st_mode & 0o006]
    assert open_to_all == []


@pytest.mark.slow
def test_nothing_that_the_sandbox_writes_can_be_read_by_another_user(tmp_path):
    before = os.umask(0)
    command = [sys.executable, "-c", "from partner_sandbox.cli import main; main()", "--port", "0", "--data", "state"]
    try:
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3] / "include")},
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


def _ctrl_c_counts():
    """A shell starts its background jobs with SIGINT ignored, and tests that run in one hand that down."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.slow
def test_an_interrupted_sync_is_exit_code_130_and_recover_goes_on_with_it(process, sandbox):
    slow = process.environment | {"SHELFSYNC_SYNC__POLL_FIRST_S": "20"}
    command = [sys.executable, "-m", "shelfsync", "sync"]
    with subprocess.Popen(
        command,
        env=slow,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_ctrl_c_counts,  # noqa: PLW1509  one thread
    ) as syncing:
        deadline = time.monotonic() + 120
        while not any(entry["operation"] == "put_catalog" for entry in sandbox.journal()["entries"]):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        time.sleep(1)  # the answer is read, and the run waits for the job
        syncing.send_signal(signal.SIGINT)
        stderr = syncing.communicate(timeout=60)[1]
    assert (syncing.returncode, "Traceback" in stderr) == (130, False), stderr
    assert "Run `shelfsync recover` to continue." in stderr.splitlines()[-1]
    while data(process("recover", "--json").stdout)["open"]:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    assert data(process("status", "--json").stdout)["vendors"][0]["acknowledged"] == 1


def test_the_table_of_changes_is_printed_as_sql_that_an_administrator_can_run(here):
    code, printed, _ = here("change-table")
    table, query = CHANGE_TABLE_FILE.read_text("utf-8"), CHANGES_FILE.read_text("utf-8")
    assert (code, printed) == (0, f"{table}\n{query}")


def test_a_command_ends_without_taking_down_its_interpreter(process):
    """A thread of Arrow that still holds a Python file then aborts the process, which no test can bring about at will."""
    told = "import atexit, os, sys; atexit.register(os.abort); sys.argv = ['shelfsync', '--version']; from shelfsync.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", told], env=process.environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("shelfsync ")


@pytest.mark.slow
def test_a_command_whose_reader_has_enough_prints_no_traceback(process):
    command = f"{sys.executable} -m shelfsync config show | true"
    done = subprocess.run(
        ["sh", "-c", command], env=process.environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_sniff_needs_neither_settings_nor_a_database(tmp_path, monkeypatch, capsys):
    path = tmp_path / "stock.txt"
    path.write_text("Filiale;Artikel;Preis\n0101;7;1.299\n", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SHELFSYNC_")}
    with commands_here(environment | {"SHELFSYNC_DATABASE_URL": "nonsense"}, tmp_path, monkeypatch, capsys) as here:
        code, out, _ = here("sniff", str(path))
        assert code == 0
        assert "export SHELFSYNC_ERP__CSV_DELIMITER=';'" in out.splitlines()
        assert "- Preis '1.299' may be 1299 or 1.299, and no other number shows which." in out
        found = data(here("sniff", str(path), "--json")[1])
        assert json.loads(found["settings"]["SHELFSYNC_ERP__COLUMNS"]) == {
            "vendor": "Filiale",
            "sku": "Artikel",
            "price": "Preis",
        }
        code, _, errors = here("sniff", str(tmp_path / "none.csv"))
        assert (code, errors.count("\n")) == (3, 1)
