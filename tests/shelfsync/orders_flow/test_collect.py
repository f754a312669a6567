"""Picking results out of the store's own database: one row a line, whole results only, each once."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from shelfsync.errors import ConfigurationError

TABLE = """CREATE TABLE picking (order_id TEXT, result_id TEXT, action TEXT, line_no INT, line_count INT, item_id TEXT, sku TEXT, status TEXT,
    quantity NUMERIC, weight NUMERIC, unit_price NUMERIC, by_sku TEXT, by_quantity NUMERIC, accepted_for TEXT, reason TEXT)"""


@pytest.fixture
def till(tmp_path):
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'till.sqlite'}")
    with engine.begin() as connection:
        connection.execute(sa.text(TABLE))
    yield engine
    engine.dispose()


@pytest.fixture
def world(make_world, till, tmp_path):
    return make_world(
        orders={"picking_sql": "SELECT * FROM picking;", "picking_url": f"sqlite:///{tmp_path / 'till.sqlite'}"}
    )


def write(till, *rows):
    with till.begin() as connection:
        for row in rows:
            names = ", ".join(row)
            connection.execute(
                sa.text(f"INSERT INTO picking ({names}) VALUES ({', '.join(':' + name for name in row)})"), row
            )


def line(order, **more):
    return {"order_id": order["order_id"], "result_id": "r1", "action": "fulfil", "line_count": 2, **more}


def test_a_result_in_a_table_is_sent_like_any_other(world, till):
    order = world.place({"sku": "MILK", "quantity": 2}, "HONEY")
    world.heard()
    first = line(order, line_no=1, sku="MILK", status="picked", quantity=1)
    second = line(order, line_no=2, sku="HONEY", status="replaced", by_sku="BREAD", by_quantity=1)
    write(till, first, second)
    world.until(order, "done")
    assert [(item["sku"], item["status"]) for item in world.shown(order)["items"]] == [
        ("MILK", "IN_CART"),
        ("HONEY", "REPLACED"),
        ("BREAD", "IN_CART"),
    ]
    assert world.house.orders.collect() == {"new": 0, "known": 1, "partial": 0, "refused": {}}


def test_a_result_whose_lines_are_not_all_there_waits(world, till):
    order = world.place("MILK", "JAM")
    world.heard()
    write(till, line(order, line_no=1, sku="MILK", status="picked"))
    assert world.house.orders.collect()["partial"] == 1
    write(till, line(order, line_no=2, sku="JAM", status="not_found"))
    assert world.house.orders.collect()["new"] == 1


def test_an_acceptance_and_a_cancellation_have_no_lines(world, till):
    order = world.place("MILK", transport_type="VENDOR_DELIVERY")
    world.heard()
    write(
        till,
        {"order_id": order["order_id"], "result_id": "a", "action": "accept", "accepted_for": "2030-01-01T10:00:00Z"},
    )
    world.until(order, "done")
    write(till, {"order_id": order["order_id"], "result_id": "b", "action": "cancel", "reason": "TOO_BUSY"})
    world.tick()
    world.until(order, "done")
    assert world.shown(order)["status"] == "cancelled"


def test_a_result_that_changes_under_its_name_is_told_and_not_taken(world, till):
    order = world.place("MILK")
    write(till, line(order, line_count=1, sku="MILK", status="picked"))
    world.house.orders.collect()
    with till.begin() as connection:
        connection.execute(sa.text("UPDATE picking SET status = 'not_found'"))
    assert "a correction needs a result_id of its own" in world.house.orders.collect()["refused"]["r1"]


def test_a_row_that_cannot_be_read_stops_no_other(world, till):
    good, bad = world.place("MILK"), world.place("MILK")
    write(
        till,
        line(bad, line_count=1, sku="MILK", status="picked", quantity=-1),
        line(good, line_count=1, sku="MILK", status="picked"),
    )
    told = world.house.orders.collect()
    assert (told["new"], list(told["refused"])) == (1, ["r1"])


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT order_id, action FROM picking", "has no column 'result_id'"),
        ("SELECT *, 1 AS colour FROM picking", "has a column 'colour'"),
        ("SELECT nothing", "PICKING_SQL"),
    ],
)
def test_a_select_that_is_wrong_is_told_by_its_setting(make_world, tmp_path, till, sql, said):
    write(till, {"order_id": "x", "result_id": "r", "action": "fulfil"})
    world = make_world(orders={"picking_sql": sql, "picking_url": f"sqlite:///{tmp_path / 'till.sqlite'}"})
    with pytest.raises(ConfigurationError, match=said):
        world.house.orders.collect()
