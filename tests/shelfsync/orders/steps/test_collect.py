"""Picking results from the store's own database: one row a line, only complete results, each once."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa

from picking_table import line, write
from shelfsync.errors import ConfigurationError, UnreachableError


@pytest.fixture
def world(world_of_table):
    return world_of_table


@pytest.mark.slow
def test_a_result_in_a_table_is_sent_like_any_other(world, till):
    order = world.place({"sku": "MILK", "quantity": 2}, "HONEY")
    world.receive_events()
    first = line(order, line_no=1, sku="MILK", status="picked", quantity=1)
    second = line(order, line_no=2, sku="HONEY", status="replaced", by_sku="BREAD", by_quantity=1)
    write(till, first, second)
    world.until(order, "done")
    assert [(item["sku"], item["status"]) for item in world.shown(order)["items"]] == [
        ("MILK", "IN_CART"),
        ("HONEY", "REPLACED"),
        ("BREAD", "IN_CART"),
    ]
    assert world.app.orders.collect() == {"new": 0, "known": 1, "partial": 0, "rejected": {}, "alarms": []}


def test_a_result_whose_lines_are_not_all_there_waits(world, till):
    order = world.place("MILK", "JAM")
    world.receive_events()
    write(till, line(order, line_no=1, sku="MILK", status="picked"))
    assert world.app.orders.collect()["partial"] == 1
    write(till, line(order, line_no=2, sku="JAM", status="not_found"))
    assert world.app.orders.collect()["new"] == 1


@pytest.mark.slow
def test_an_acceptance_and_a_cancellation_have_no_lines(world, till):
    order = world.place("MILK", transport_type="VENDOR_DELIVERY")
    world.receive_events()
    write(
        till,
        {"order_id": order["order_id"], "result_id": "a", "action": "accept", "accepted_for": "2030-01-01T10:00:00Z"},
    )
    world.until(order, "done")
    write(till, {"order_id": order["order_id"], "result_id": "b", "action": "cancel", "reason": "TOO_BUSY"})
    world.tick()
    world.until(order, "done")
    assert world.shown(order)["status"] == "cancelled"


def test_a_result_that_changes_under_its_name_is_reported_and_not_stored(world, till):
    order = world.place("MILK")
    write(till, line(order, line_count=1, sku="MILK", status="picked"))
    world.app.orders.collect()
    with till.begin() as connection:
        connection.execute(sa.text("UPDATE picking SET status = 'not_found'"))
    assert "a correction needs a result_id of its own" in world.app.orders.collect()["rejected"]["r1"]


def test_a_row_that_cannot_be_read_stops_no_other(world, till):
    good, bad = world.place("MILK"), world.place("MILK")
    write(
        till,
        line(bad, line_count=1, sku="MILK", status="picked", quantity=-1),
        line(good, line_count=1, sku="MILK", status="picked"),
    )
    counts = world.app.orders.collect()
    assert (counts["new"], list(counts["rejected"])) == (1, ["r1"])


@pytest.mark.parametrize(
    ("strange", "message"),
    [
        ([{"line_count": "two"}], "line_count is not one whole number"),
        ([{"line_count": 1, "line_no": 1}, {"line_count": 1, "line_no": "b"}], "it has 2 lines"),
        (
            [{"line_count": 2, "action": "fulfil"}, {"line_count": 2, "action": "cancel"}],
            "contradict each other about action",
        ),
        ([{"line_count": 1, "check_first": "ja"}], "check_first must be true or false"),
    ],
    ids=["count", "more", "odds", "truth"],
)
def test_contradicting_rows_stop_no_other_and_are_one_alarm(world, till, strange, message):
    good, bad = world.place("MILK"), world.place("MILK")
    write(till, *({**line(bad, sku="MILK", status="picked"), **one} for one in strange))
    write(till, line(good, line_count=1, sku="MILK", status="picked"))
    first, second = world.app.orders.collect(), world.app.orders.collect()
    assert (first["new"], second["known"], len(first["alarms"]), second["alarms"]) == (1, 1, 1, [])
    assert (message in first["rejected"]["r1"], bad["order_id"] in first["alarms"][0]) == (True, True)
    with till.begin() as connection:
        connection.execute(sa.text("DELETE FROM picking WHERE order_id = :id"), {"id": bad["order_id"]})
    world.app.orders.collect()
    assert world.app.status()["orders"]["alarms"] == []


def test_the_alarm_of_a_rejected_result_ends_when_no_table_is_read_any_more(world, make_world, till):
    write(till, line(world.place("MILK"), action="dance", line_count=1, sku="MILK", status="picked"))
    assert len(world.app.orders.collect()["alarms"]) == 1
    by_http = make_world(orders={"picking_sql": None, "picking_url": None})
    by_http.app.orders.collect()
    assert by_http.app.orders.today()["alarms"] == []


def test_lines_are_in_the_order_of_their_numbers_whatever_type_these_have(world, till):
    order = world.place("MILK", "JAM", "BREAD")
    rows = [("MILK", "10"), ("JAM", 9), ("BREAD", None)]
    write(till, *(line(order, line_count=3, line_no=place, sku=sku, status="picked") for sku, place in rows))
    world.app.orders.collect()
    (body,) = world.rows("SELECT body FROM ledger.picking_result")[0]
    assert [one["sku"] for one in json.loads(body)["items"]] == ["JAM", "MILK", "BREAD"]


@pytest.mark.slow
def test_known_results_are_skipped_by_the_thousand(world, till):
    """A chain's last days are tens of thousands of results, read each minute."""
    ids = [f"5b8e6f3c-0000-4222-8333-{number:012}" for number in range(2_500)]
    write(till, *({"order_id": one, "result_id": "r", "action": "cancel", "reason": "CLOSED"} for one in ids))
    assert world.app.orders.collect()["new"] == 2_500
    statements = []
    sa.event.listen(world.app.context.engine, "before_cursor_execute", lambda *_: statements.append(1))
    assert world.app.orders.collect()["known"] == 2_500
    assert len(statements) < 20


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT order_id, action FROM picking", "has no column 'result_id'"),
        ("SELECT *, 1 AS colour FROM picking", "has an unknown column 'colour'"),
        ("SELECT nothing", "PICKING_SQL"),
    ],
)
def test_an_error_of_the_select_names_its_setting(make_world, tmp_path, till, sql, message):
    write(till, {"order_id": "x", "result_id": "r", "action": "fulfil"})
    world = make_world(orders={"picking_sql": sql, "picking_url": f"sqlite:///{tmp_path / 'till.sqlite'}"})
    with pytest.raises(ConfigurationError, match=message):
        world.app.orders.collect()


@pytest.mark.parametrize(
    ("url", "fault"),
    [("postgresql://u:canary@127.0.0.1:1/picking", UnreachableError), ("sqlite:////no/such/file", ConfigurationError)],
)
@pytest.mark.parametrize("own", [True, False])
def test_a_database_that_cannot_be_read_is_named_by_its_own_setting(make_world, url, fault, own):
    sections = {"orders": {"picking_url": url}} if own else {"erp": {"url": url}}
    sections["orders"] = {"picking_sql": "SELECT * FROM picking", **sections.get("orders", {})}
    world = make_world(**sections)
    with pytest.raises(fault) as raised:
        world.app.orders.collect()
    assert str(raised.value).startswith("SHELFSYNC_ORDERS__PICKING_URL: " if own else "SHELFSYNC_ERP__URL: ")
    assert ("shelfsync_erp" in str(raised.value)) == (not own and fault is UnreachableError)
    assert "canary" not in str(raised.value)
