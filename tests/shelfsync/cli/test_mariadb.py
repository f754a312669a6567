"""A run over MariaDB, in a process of its own: whatever the server does, the run ends, and reports why in one line."""

from __future__ import annotations

import contextlib
import threading
import time

import pymysql
import pytest

from documents import data

pytestmark = pytest.mark.slow
SLOW = "SELECT vendor, sku, price, quantity, active + sleep(IF(sku = 'b', 30, 0)) AS active FROM item"


@pytest.fixture
def erp(mariadb_port, process, tmp_path):
    """The settings of an ERP in MariaDB with the two rows of the file."""
    (tmp_path / "stock.csv").unlink()
    del process.environment["SHELFSYNC_ERP__FILES"]
    with shop(mariadb_port) as cursor:
        cursor.execute(
            "CREATE OR REPLACE TABLE item (vendor char(9), sku char(1), price decimal(9, 4), quantity int, active bit(1))"
        )
        cursor.execute("INSERT INTO item VALUES ('store-001', 'a', 1.2345, 4, 1), ('store-001', 'b', 2, 4, 1)")
        cursor.execute("COMMIT")
    url = f"mysql+pymysql://shop:canary-password-3@127.0.0.1:{mariadb_port}/erp"
    return {"SHELFSYNC_ERP__URL": url, "SHELFSYNC_ERP__SQL": "SELECT * FROM item"}


@contextlib.contextmanager
def shop(port):
    with pymysql.connect(host="127.0.0.1", port=port, user="shop", password="canary-password-3", database="erp") as erp:
        yield erp.cursor()


def kill_reader(port):
    """Kills the session that reads, once it sleeps: the check before it asks for the same SELECT, and is over at once."""
    reading = "SELECT id FROM information_schema.processlist WHERE info LIKE '%sleep(IF%' AND time >= 3 AND id <> connection_id()"
    deadline = time.monotonic() + 60
    with shop(port) as cursor:
        while not cursor.execute(reading):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        [[session]] = cursor.fetchall()
        cursor.execute(f"KILL {session}")


def test_a_killed_session_and_a_slow_statement_end_the_run_and_the_next_one_sends(process, erp, mariadb_port, sandbox):
    killer = threading.Thread(target=kill_reader, args=[mariadb_port])
    killer.start()
    killed = process("sync", "--full", **{**erp, "SHELFSYNC_ERP__SQL": SLOW})
    killer.join()
    late = process("sync", "--full", **{**erp, "SHELFSYNC_ERP__SQL": SLOW, "SHELFSYNC_ERP__TIMEOUT_S": "1"})
    for ended in (killed, late):
        assert ended.returncode == 5, ended.stderr
        assert "broke off" in ended.stderr
        assert "Traceback" not in ended.stderr
        assert "Exception ignored" not in ended.stderr
        assert len(ended.stderr.splitlines()) <= 3, ended.stderr
    assert "SHELFSYNC_ERP__TIMEOUT_S" in late.stderr
    assert {row["state"] for row in data(process("runs", "list", "--json").stdout)["runs"]} == {"failed"}
    sent = process("sync", "--full", **erp)
    assert sent.returncode == 0, sent.stderr
    assert sandbox.products("store-001")["a"]["price"] == 1.234
