"""The DuckDB file is written however long the lake takes, and whatever a dead process left."""

from __future__ import annotations

import os
import time

import duckdb
import pytest

from shelfsync.store import engine as store_engine
from shelfsync.store.lake import Lake
from shelfsync.warehouse.duck import write


@pytest.fixture
def synced(world):
    """A vendor with three jobs, each with files of its own."""
    world.platform.put_products(
        "store-001", [{"sku": "a", "barcodes": [], "title": "a", "price": 9.99, "active": True}]
    )
    for price in ("1.00", "1.10", "1.20"):
        world.erp.put("store-001", "a", price)
        world.sync("delta")
    return world


def _rows(file):
    with duckdb.connect(str(file), read_only=True) as opened:
        return opened.execute("SELECT count(*) FROM warehouse.sku_outcome").fetchall()[0][0]


class SlowLake(Lake):
    """A lake far away: each file of it takes a while, all files of a vendor take longer than a transaction may be idle."""

    def read_table(self, path, columns=None):
        time.sleep(0.6)
        return super().read_table(path, columns)


def test_a_lake_that_needs_longer_than_a_transaction_may_be_idle_is_read_to_its_end(synced, tmp_path, monkeypatch):
    monkeypatch.setattr(store_engine, "IDLE_IN_TRANSACTION_S", 2)
    engine = store_engine.create_engine(synced.settings.database_url.get_secret_value())
    try:
        counts = write(engine, SlowLake(synced.settings.lake), tmp_path / "today.duckdb")
    finally:
        engine.dispose()
    assert counts["warehouse.sku_outcome"] == _rows(tmp_path / "today.duckdb") == 3


def test_what_a_killed_process_with_the_same_number_left_stops_no_later_one(synced, tmp_path):
    """In a container each process has the same number."""
    folder = tmp_path / "files"
    folder.mkdir()
    with duckdb.connect(str(folder / f".today.duckdb.{os.getpid()}")) as left:
        left.execute("CREATE SCHEMA warehouse")
    context = synced.app.context
    write(context.engine, context.lake, folder / "today.duckdb")
    assert _rows(folder / "today.duckdb") == 3
