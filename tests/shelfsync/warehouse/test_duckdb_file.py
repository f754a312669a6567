"""The DuckDB file is written however long the lake takes, and whatever a dead process left."""

from __future__ import annotations

import os

import duckdb
import pytest

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


def test_what_a_killed_process_with_the_same_number_left_stops_no_later_one(synced, tmp_path):
    """In a container each process has the same number."""
    folder = tmp_path / "files"
    folder.mkdir()
    with duckdb.connect(str(folder / f".today.duckdb.{os.getpid()}")) as left:
        left.execute("CREATE SCHEMA warehouse")
    context = synced.app.context
    write(context.engine, context.lake, folder / "today.duckdb")
    assert _rows(folder / "today.duckdb") == 3
