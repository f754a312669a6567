"""A file of names that cannot be read fails no vendor and no command, and costs no name that the lake still has."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shelfsync.catalog.assortment import product_names
from shelfsync.catalog.ledger import vendors

pytestmark = pytest.mark.slow

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


def test_a_file_of_names_that_cannot_be_read_fails_nothing_and_loses_no_last_known_name(make_world, caplog):
    world = make_world(erp={"sql": SQL})
    caplog.set_level(logging.WARNING)

    def warnings() -> list[str]:
        found = [line for line in caplog.messages if line.startswith("names: vendor store-001:")]
        caplog.clear()
        return found

    def names() -> dict[str, str]:
        return product_names.of_skus(world.app.context, "store-001", ["p1", "left"])

    def synced(price: int) -> dict[str, str]:
        world.erp.put("store-001", "p1", price)
        assert world.sync()["state"] == "succeeded"
        return names()

    def current() -> Path:
        with world.app.context.engine.connect() as connection:
            return Path(world.settings.lake) / vendors.names_path(connection, "store-001")

    world.erp.put("store-001", "left", 9)
    synced(1)
    world.erp.execute("DELETE FROM stock WHERE sku = 'left'")
    known = synced(2)
    assert known == {"p1": "Milk at 2", "left": "Milk at 9"}
    for price, (what, content) in enumerate(BROKEN.items(), 3):
        current().write_bytes(content)
        assert names() == {}, what
        [line] = warnings()
        assert current().name in line
        assert synced(price) == {"p1": f"Milk at {price}", "left": "Milk at 9"}, what
        [line] = warnings()
        assert "come from names/store-001/" in line

    current().unlink()
    assert synced(8) == {"p1": "Milk at 8", "left": "Milk at 9"}
    # the ERP has the names of an earlier file again: the vendor gets that file
    current().write_bytes(b"")
    assert synced(1) == {"p1": "Milk at 1", "left": "Milk at 9"}
    assert len(warnings()) == 2

    # a lake that fails for a while: the vendor keeps the file, and has all its names when the lake is back
    whole, aside = current(), current().with_suffix(".aside")
    whole.rename(aside)
    whole.mkdir()
    assert synced(5) == {}
    assert "the names stay as they are" in warnings()[0]
    whole.rmdir()
    aside.rename(whole)
    assert names() == {"p1": "Milk at 1", "left": "Milk at 9"}
    assert synced(6) == {"p1": "Milk at 6", "left": "Milk at 9"}
