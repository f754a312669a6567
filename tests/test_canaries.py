"""The canaries are looked for in every place that they could be found in, and one that is found fails the session."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import canaries

SUPPORT = Path(__file__).resolve().parent / "support"
SECRET = "demo-" + "secret"  # in two halves: this file is among what is looked into
TOKEN = f"{'eyJ' + 'a' * 30}.{'eyJ' + 'b' * 30}.{'c' * 30}"


def test_each_canary_is_known_by_sight():
    seen: list[str] = []
    ours = ("token-7", "webhook-1", "picking-till", "password-3")
    texts = (
        SECRET,
        *(f"canary-{one}" for one in ours),
        f"Bearer {TOKEN}",
        "call +4477009" + "00123",
        "nothing of the kind",
    )
    for one in texts:
        canaries.look("here", one, seen)
    assert [line.split(" in ")[0] for line in seen] == [
        "the platform's client secret",
        "a token of the client's tests, static ones too",
        "the webhook's secret",
        "the secret of picking results",
        "a database's password",
        "a token of the platform",
        "a customer's telephone",
    ]


def test_each_canary_has_an_anchor():
    words = (canaries.SECRETS | canaries.PERSONAL).values()
    assert [word for word in words if not any(anchor.encode() in word for anchor in canaries.ANCHORS)] == []


def test_files_are_looked_into_whatever_they_are_and_however_long(tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "task.log").write_text("x" * (canaries.PART_BYTES - 4) + SECRET, "utf-8")
    pq.write_table(pa.table({"sku": ["a"], "raw": [f"token={SECRET}"]}), tmp_path / "log.parquet", compression="zstd")
    (tmp_path / "clean.log").write_text("secret", "utf-8")
    seen: list[str] = []
    canaries.look_into(tmp_path, seen)
    assert sorted(Path(line.split(" in ")[1]).name for line in seen) == ["log.parquet", "task.log"]
    shutil.rmtree(tmp_path)  # or this session would find them too


def test_every_table_is_looked_into_bytes_and_json_too(empty_database_url):
    with psycopg.connect(empty_database_url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA ledger; CREATE SCHEMA warehouse; CREATE SCHEMA inbox")
        for schema, kind in (("ledger", "bytea"), ("warehouse", "jsonb"), ("inbox", "text")):
            connection.execute(f"CREATE TABLE {schema}.kept (number int, text {kind})")
        connection.execute("INSERT INTO ledger.kept VALUES (1, convert_to(%s, 'UTF8'))", (SECRET,))
        connection.execute(
            "INSERT INTO warehouse.kept VALUES (1, jsonb_build_object('to', %s::text))", ("Robin Example",)
        )
        connection.execute("INSERT INTO inbox.kept VALUES (1, 'Robin Example')")
    seen: list[str] = []
    canaries.look_into_database(empty_database_url, seen)
    assert sorted(seen) == [
        "a customer's name in table warehouse.kept",
        "the platform's client secret in table ledger.kept",
    ]


def test_a_table_that_keeps_one_secret_by_right_is_looked_into_for_all_others(empty_database_url):
    signature = "canary-" + "signature"
    with psycopg.connect(empty_database_url, autocommit=True) as connection:
        connection.execute(
            "CREATE SCHEMA inbox; CREATE TABLE inbox.event (body text); CREATE TABLE inbox.other (body text)"
        )
        for _ in range(6):  # more than are reported of one database
            connection.execute("INSERT INTO inbox.event VALUES (%s)", (f"https://h/1?X-Amz-Signature={signature}",))
        connection.execute("INSERT INTO inbox.other VALUES (%s)", (signature,))
        connection.execute("INSERT INTO inbox.event VALUES (%s)", (f"{signature} {SECRET}",))
    seen: list[str] = []
    canaries.look_into_database(empty_database_url, seen)
    assert sorted(seen) == [
        "the platform's client secret in table inbox.event",
        "the signature of a presigned link in table inbox.other",
    ]


LEAKS = {
    "a line that is printed": "print(SECRET)",
    "a line that is logged": "import logging; logging.getLogger('shelfsync.catalog.steps').info('sent %s', SECRET)",
    "a traceback that is logged": """
    import logging
    try:
        raise ValueError(SECRET)
    except ValueError:
        logging.getLogger('partner_api').exception('failed')""",
    "a file that is left": "(tmp_path / 'task.log').write_text(SECRET)",
}


PLACES = (
    "test_0: Captured stdout call",
    "a log line of shelfsync.catalog.steps",
    "a log line of partner_api",
    "task.log",
)
"""Where each of them is found."""


@pytest.mark.parametrize(
    "processes", [pytest.param((), id="alone"), pytest.param(("-n", "1"), id="distributed", marks=pytest.mark.slow)]
)
def test_a_session_that_leaks_a_canary_fails(tmp_path, processes):
    (tmp_path / "conftest.py").write_text(
        "import canaries\n\ndef pytest_configure(config):\n"
        "    config.pluginmanager.register(canaries.Watch(config), 'canaries')\n",
        "utf-8",
    )
    tests = [f"def test_{number}(tmp_path):\n    {leak.strip()}\n" for number, leak in enumerate(LEAKS.values())]
    text = "\n".join(["SECRET = 'demo-' + 'secret'", *tests])
    (tmp_path / "test_leak.py").write_text(text, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'base'}"]
    environment = {**os.environ, "PYTHONPATH": str(SUPPORT)}
    session = subprocess.run(
        [*command, *processes], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert f"{len(LEAKS)} passed" in session.stdout
    assert session.returncode == 1
    for place in PLACES:
        assert re.search(rf"the platform's client secret in .*{re.escape(place)}", session.stdout), place
    shutil.rmtree(tmp_path)  # or this session would find them too, were it in bytecode: Python folds the constant
