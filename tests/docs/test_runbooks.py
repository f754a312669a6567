"""Every statement that a runbook or the security page names runs as it is written, and each change of a secret works."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path

import pytest
import sqlalchemy as sa

from receiver_fixture import LiveReceiver, request
from shelfsync.alerts.kind import KINDS
from shelfsync.errors import Alarm
from shelfsync.store import monthly_partitions

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "docs/explanation/security.md",
    ROOT / "docs/how-to/receiver.md",
    ROOT / "docs/how-to/portal-edit.md",
    ROOT / "docs/how-to/who-decided.md",
    ROOT / "docs/reference/warehouse.md",
    *sorted((ROOT / "docs/how-to/runbooks").glob("*-*.md")),
]
HEADINGS = ["What you see", "By itself", "What to do", "When it is over"]
LINES_MAX = 45
TEXT = {page.name: page.read_text("utf-8") for page in PAGES}
STATEMENTS = sorted(
    {(name, found) for name, text in TEXT.items() for found in re.findall(r'psql "[^"]+" -c "([^"]+)"`', text)}
)


def test_there_is_something_to_look_at():
    assert len(STATEMENTS) >= 3


@pytest.mark.parametrize(("page", "statement"), STATEMENTS)
def test_every_statement_runs(page, statement, engine):
    with engine.begin() as connection:
        connection.execute(sa.text(statement.replace("= N", "= 1")))


QUERIES = sorted(
    {
        (name, found)
        for name, text in TEXT.items()
        for found in (
            *re.findall(r"`(SELECT [^`]+)`", text),
            *re.findall(r"^```sql\n(.*?)^```$", text, re.MULTILINE | re.DOTALL),
        )
    }
)


@pytest.mark.parametrize(("page", "query"), QUERIES)
def test_every_query_runs(page, query, engine):
    with engine.begin() as connection:
        connection.exec_driver_sql(query)


@pytest.mark.parametrize("page", sorted((ROOT / "docs/how-to/runbooks").glob("*-*.md")), ids=lambda page: page.stem)
def test_a_runbook_with_commands_names_the_place_to_type_them(page):
    text = page.read_text("utf-8")
    if re.search(r"`(shelfsync |SELECT |psql |airflow )", text):
        assert "(README.md#where-to-type-commands-and-sql)" in text.partition("\n## ")[0].partition("\n1. ")[0]


@pytest.mark.parametrize("page", sorted((ROOT / "docs/how-to/runbooks").glob("*-*.md")), ids=lambda page: page.stem)
def test_a_runbook_fits_one_screen_and_has_the_four_parts(page):
    text = page.read_text("utf-8")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == HEADINGS
    assert text.count("\n") <= LINES_MAX


@pytest.mark.parametrize("alarm", Alarm)
def test_every_alarm_has_a_page_with_what_to_do_and_a_place_in_the_list(alarm):
    assert (ROOT / alarm.page).exists()
    assert f"({alarm.value}.md)" in (ROOT / "docs/how-to/runbooks/README.md").read_text("utf-8")
    assert Alarm.line(alarm, "Something waits.") == f"Something waits. Runbook: {alarm.page}"


def test_every_alarm_is_raised_and_names_its_page():
    """By its name: in a line of a step, or as the page of a kind of alerts."""
    code = "".join(
        file.read_text("utf-8") for file in (ROOT / "include/shelfsync").rglob("*.py") if file.name != "errors.py"
    )
    raised = set(re.findall(r"\bAlarm\.([A-Z_]+)\b", code))
    assert raised == set(Alarm.__members__)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_of_alert_has_a_runbook_and_stands_in_the_list(kind):
    assert (ROOT / kind.page).exists()
    assert f"| `{kind.name}` |" in (ROOT / "docs/how-to/alarms.md").read_text("utf-8")


def test_every_recommended_alarm_of_a_metric_has_a_page():
    alarms = (ROOT / "docs/reference/observability.md").read_text("utf-8").partition("Recommended alarms")[2]
    lines = re.findall(r"^- .*(?:\n  .*)*$", alarms, re.MULTILINE)
    assert len(lines) >= 7
    assert [line for line in lines if "../how-to/runbooks/" not in line] == []


def test_the_rights_of_a_reader_reach_every_view_and_no_customer(engine):
    [rights] = re.findall(r"^```postgresql\n(.*?)^```$", TEXT["warehouse.md"], re.MULTILINE | re.DOTALL)
    with engine.connect() as connection, connection.begin() as transaction:
        connection.exec_driver_sql(rights)
        connection.exec_driver_sql("CREATE VIEW warehouse.made_later AS SELECT 1 AS one")
        connection.exec_driver_sql("SET LOCAL ROLE reader")
        for name in ("freshness", "baseline_history", "sku_outcome", "made_later"):
            connection.exec_driver_sql(f"SELECT * FROM warehouse.{name} LIMIT 1")
        with pytest.raises(sa.exc.ProgrammingError, match="permission denied"):
            connection.exec_driver_sql("SELECT * FROM warehouse.order_customer")
        transaction.rollback()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([("2026-02-01 08:00+00", "1.000"), ("2026-03-01 15:00+00", "2.000")], ["1.000"]),
        ([("2026-03-01 15:00+00", "2.000")], []),  # its price of noon is not known: the one in force is newer
        ([], ["2.000"]),
    ],
    ids=["changed before and after", "first change kept is later", "no change kept"],
)
def test_the_price_at_an_instant_is_right_or_missing(changes, expected, engine):
    [query] = re.findall(
        r"^\(SELECT price, active, valid_from FROM .*?;$", TEXT["warehouse.md"], re.MULTILINE | re.DOTALL
    )
    with engine.connect() as connection, connection.begin() as transaction:
        connection.exec_driver_sql("INSERT INTO warehouse.vendor VALUES ('store-001', '2026-01-01')")
        connection.exec_driver_sql(
            "INSERT INTO warehouse.baseline (vendor, sku, price, active, job_id, acknowledged_at)"
            " VALUES ('store-001', '4711', 2, true, 1, '2026-03-01 15:00+00')"
        )
        for version, (at, price) in enumerate(changes):
            monthly_partitions.ensure(connection, "baseline_history", dt.datetime.fromisoformat(at))
            connection.execute(
                sa.text(
                    "INSERT INTO warehouse.baseline_history (vendor, sku, version, valid_from, price, active)"
                    " VALUES ('store-001', '4711', :version, CAST(:at AS timestamptz), CAST(:price AS numeric), true)"
                ),
                {"version": version, "at": at, "price": price},
            )
        assert [str(row.price) for row in connection.exec_driver_sql(query)] == expected
        transaction.rollback()


def test_the_example_of_a_proxy_passes_what_the_platform_the_stores_and_the_monitoring_call():
    [passed] = re.findall(r"location ~ (\S+) \{", (ROOT / "deploy/nginx/shelfsync.conf").read_text("utf-8"))
    order = "/picking/0f8fad5b-d9cb-469f-a165-70867728950e"
    for path in ("/webhook", "/webhook/catalog", "/webhook/orders", order, "/health"):
        assert re.search(passed, path), path
    assert not re.search(passed, "/docs")


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
