"""A file of names that cannot be read is no names: it is for people, so it fails no vendor and no command."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shelfsync.catalog.assortment import product_names

SQL = "SELECT vendor, sku, price, quantity, 'Milk at ' || price AS name FROM stock"


def parquet(**columns: list[object]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


BROKEN = {
    "empty": b"",
    "text": b"no Parquet at all",
    "cut": parquet(sku=["p1"], name=["x"])[:-9],
    "other columns": parquet(code=["p1"]),
    "other types": parquet(sku=[[1]], name=[2]),
}


@pytest.mark.slow
def test_a_file_of_names_that_cannot_be_read_is_written_anew_and_fails_nothing(make_world, caplog):
    world = make_world(erp={"sql": SQL})
    caplog.set_level(logging.WARNING)

    def warnings() -> list[str]:
        found = [line for line in caplog.messages if line.startswith("names: vendor store-001:")]
        caplog.clear()
        return found

    def synced(price: int) -> dict[str, str]:
        world.erp.put("store-001", "p1", price)
        state = world.sync()["state"]
        assert state == "succeeded"
        return product_names.of_skus(world.app.context, "store-001", ["p1"])

    known = synced(1)
    for price, (what, content) in enumerate(BROKEN.items(), 2):
        assert known == {"p1": f"Milk at {price - 1}"}
        newest = max(Path(world.settings.lake).glob("names/store-001/*"), key=lambda file: file.stat().st_mtime_ns)
        newest.write_bytes(content)
        assert product_names.of_skus(world.app.context, "store-001", ["p1"]) == {}, what
        [line] = warnings()
        assert newest.name in line
        known = synced(price)
        assert len(warnings()) == 1, what
    assert known == {"p1": f"Milk at {price}"}
