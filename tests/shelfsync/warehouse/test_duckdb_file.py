"""The DuckDB file is written however long the lake takes, and whatever a dead process left."""

from __future__ import annotations

import os
import time

import duckdb
import pytest

from shelfsync.errors import ConfigurationError
from shelfsync.store import engine as store_engine
from shelfsync.store.lake import Lake
from shelfsync.warehouse.duckdb_file import write


def _synced(world):
    world.platform.put_products(
        "store-001", [{"sku": "a", "barcodes": [], "title": "a", "price": 9.99, "active": True}]
    )
    for price in ("1.00", "1.10", "1.20"):
        world.erp.put("store-001", "a", price)
        world.sync("delta")


@pytest.fixture
def synced(world_after):
    """A vendor with three jobs, each with files of its own."""
    return world_after(_synced)


def _rows(file):
    with duckdb.connect(str(file), read_only=True) as opened:
        return opened.execute("SELECT count(*) FROM warehouse.sku_outcome").fetchall()[0][0]


class SlowLake(Lake):
    """A lake far away: each file of it takes a while, all files of a vendor take longer than a transaction may be idle."""

    def read_table(self, path, columns=None):
        time.sleep(0.6)
        return super().read_table(path, columns)


@pytest.mark.slow
def test_a_lake_that_needs_longer_than_a_transaction_may_be_idle_is_read_to_its_end(synced, tmp_path, monkeypatch):
    monkeypatch.setattr(store_engine, "IDLE_IN_TRANSACTION_S", 2)
    engine = store_engine.create_engine(synced.settings.database_url.get_secret_value())
    try:
        counts = write(engine, SlowLake(synced.settings.lake), tmp_path / "today.duckdb")
    finally:
        engine.dispose()
    assert counts["warehouse.sku_outcome"] == _rows(tmp_path / "today.duckdb") == 3


@pytest.mark.slow
def test_what_a_killed_process_with_the_same_number_left_stops_no_later_one(synced, tmp_path):
    """In a container each process has the same number."""
    folder = tmp_path / "files"
    folder.mkdir()
    with duckdb.connect(str(folder / f".today.duckdb.{os.getpid()}")) as left:
        left.execute("CREATE SCHEMA warehouse")
    context = synced.app.context
    write(context.engine, context.lake, folder / "today.duckdb")
    assert _rows(folder / "today.duckdb") == 3


@pytest.mark.parametrize("kind", ["text", "of another program"])
def test_a_file_of_something_else_is_refused_and_left_as_it_is(world, tmp_path, kind):
    file = tmp_path / "orders.csv"
    if kind == "of another program":
        with duckdb.connect(str(file)) as other:
            other.execute("CREATE TABLE kept AS SELECT 1 AS a")
    else:
        file.write_bytes(b"sku,price\n1,2\n")
    before = file.read_bytes()
    context = world.app.context
    with pytest.raises(ConfigurationError, match=r"orders\.csv exists .* not replaced"):
        write(context.engine, context.lake, file)
    assert file.read_bytes() == before
    assert [left.name for left in tmp_path.glob("*orders.csv*")] == ["orders.csv"]


@pytest.mark.slow
def test_an_older_file_of_its_own_is_replaced(synced, tmp_path):
    context = synced.app.context
    (tmp_path / "today.duckdb").touch()  # an empty file has nothing to lose
    write(context.engine, context.lake, tmp_path / "today.duckdb")
    synced.erp.put("store-001", "a", "1.30")
    synced.sync("delta")
    write(context.engine, context.lake, tmp_path / "today.duckdb")
    assert _rows(tmp_path / "today.duckdb") == 4
