"""A source that changes its shape is reported once: a column that is new, gone, or of another type."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from catalog_rows import column_alarms as reported

pytestmark = pytest.mark.slow

A = {"sku": "a", "title": "A", "price": 9.99, "active": True}


@pytest.fixture
def stock(parquet_stock):
    return parquet_stock


def test_a_column_that_is_new_gone_or_of_another_type_is_reported_once(stock):
    world = stock()
    stock.write(price=["1.50"], active=["1"])
    assert reported(world.sync("full")) == [], "the first reading has nothing to differ from"
    stock.write(price=[1.75], colour=["red"])
    assert "run 2" in reported(world.sync("full", dry_run=True))[0], "a plan reports it too"
    [line] = reported(world.sync("delta", "store-001"))
    assert "new: 'colour'; gone: 'active'; 'price' is of the type double and was string" in line
    assert reported(world.sync("full")) == []
    assert sum("columns have changed" in line for line in world.app.status()["alarms"]) == 1


@pytest.fixture
def stores(make_world, tmp_path):
    """`stores(**settings)`: a world of two stores with a Parquet file each; `stores.write(store, columns)` writes one."""

    def write(store, **columns):
        pq.write_table(pa.table({"sku": ["a"], **columns}), tmp_path / f"{store}.parquet")

    def open_stores(**settings):
        files = str(tmp_path / "{vendor}.parquet")
        world = make_world(erp={"url": None, "sql": None, "files": files, "changed_columns": "hold", **settings})
        for store in ("store-001", "store-002"):
            world.platform.put_products(store, [A])
            write(store, price=["1.50"])
        assert world.sync("full")["accepted"] == 2
        return world

    open_stores.write = write
    return open_stores


def _open(world):
    return [(hold["vendor"], hold["rule"]) for hold in world.app.holds.listed("open")]


def _price(world, store="store-001"):
    return world.shown(store)["a"]["price"]


def test_hold_keeps_back_the_changes_of_the_store_whose_columns_changed(stores):
    world = stores()
    stores.write("store-001", price=["1.75"], colour=["red"])
    stores.write("store-002", price=["1.75"])
    [planned] = [one for one in world.sync("full", dry_run=True)["plan"]["vendors"] if one["held"]]
    assert (planned["vendor"], planned["held"][0]["rule"]) == ("store-001", "changed_columns")
    [line] = reported(world.sync("full"))
    assert "at 1 stores (store-001): new: 'colour'" in line
    assert _open(world) == [("store-001", "changed_columns")]
    assert (_price(world), _price(world, "store-002")) == (1.5, 1.75)
    [hold] = world.app.holds.listed("open")
    assert "1 of 1 SKUs differ and the ERP's columns have changed (new: 'colour')" in hold["message"]
    stores.write("store-001", price=["1.80"], colour=["red"])
    world.sync("delta")
    assert _open(world) == [("store-001", "changed_columns")], "the same columns are not accepted by being read twice"
    assert _price(world) == 1.5
    [hold] = world.app.holds.listed("open")
    world.app.holds.decide(hold["hold_id"], approve=True, who="ann")
    assert world.sync("full")["accepted"] >= 1
    stores.write("store-001", price=["1.90"], colour=["blue"])
    world.sync("delta")
    assert (_open(world), _price(world)) == ([], 1.9), "an approval accepts the columns"


def test_a_declined_change_of_columns_holds_until_the_old_columns_are_back(stores):
    world = stores()
    stores.write("store-001", price=["1.75"], active=["1"])
    world.sync("full")
    [hold] = world.app.holds.listed("open")
    world.app.holds.decide(hold["hold_id"], approve=False, who="ann")
    world.sync("full")
    assert (_open(world), _price(world)) == ([], 1.5)
    stores.write("store-001", price=["1.80"])
    world.sync("delta")
    assert (_open(world), _price(world)) == ([], 1.8)


def test_apply_holds_what_the_plan_holds(stores):
    world = stores()
    stores.write("store-001", price=["1.75"], colour=["red"])
    world.sync("full", dry_run=True)
    world.sync("full", "store-001", "store-002")
    assert (_open(world), _price(world)) == ([("store-001", "changed_columns")], 1.5)
