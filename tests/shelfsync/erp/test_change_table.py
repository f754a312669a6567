"""The trigger-fed change table of the sample ERP reports every change, whatever is open while it is read."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
import sqlalchemy as sa

from shelfsync.catalog.changed_rows import lay_over
from shelfsync.erp import sample
from shelfsync.erp.changes_query import Changes
from shelfsync.erp.open import open_source
from shelfsync.schemas import CHANGED
from shelfsync.settings import ErpSettings


@pytest.fixture
def follow(erp_engine, erp_url):
    """Reads the changes and lays them over what was read before; compares with the whole."""
    sample.create(erp_engine, seed=1, vendors=2, skus_per_vendor=40)
    with erp_engine.begin() as connection:
        connection.exec_driver_sql(sample.CHANGE_TABLE_FILE.read_text("utf-8"))
    settings = ErpSettings(
        url=erp_url,
        sql_file=sample.SELECT_FILE,
        changes_sql_file=sample.CHANGES_FILE,
        changes_kind="number",
        changes_column="xact",
        changes_overlap=0,
    )
    source = open_source(settings)
    source.check()
    held = {}

    def whole():
        with source.read() as extract:
            rows = pa.concat_tables(list(extract))
        return {name: rows.filter(pc.equal(rows["vendor"], name)) for name in ("store-001", "store-002")}

    changes = Changes(None, lambda _: None)
    source.read_changes(changes)
    position = [changes.position]
    held.update(whole())

    def read() -> int:
        chunks = [CHANGED.empty_table()]
        changes = Changes(position[0].cursor, chunks.append)
        source.read_changes(changes)
        position[0] = changes.position
        rows = pa.concat_tables(chunks)
        for name, before in held.items():
            new = lay_over(before, rows.filter(pc.equal(rows["vendor"], name)))
            held[name] = before if new is None else new.rows
        return changes.rows

    def same():
        return {name: _on_sale(rows) for name, rows in held.items()} == {
            name: _on_sale(rows) for name, rows in whole().items()
        }

    return read, same


def _on_sale(rows):
    """The rows of a vendor without those that are off sale: a removed listing comes as one of these."""
    found = (tuple(row.values())[1:] for row in rows.to_pylist() if row["active"] == "true")
    return sorted(found, key=repr)


def test_every_kind_of_change_is_reported(follow, erp_engine):
    read, same = follow
    for seed in range(3):
        sample.tick(erp_engine, seed)
        assert read() > 0
        assert same()
    with erp_engine.begin() as connection:
        connection.execute(sa.text("UPDATE erp.product SET active = false WHERE product_id = 1"))
        connection.execute(sa.text("UPDATE erp.listing SET max_per_order = 3 WHERE product_id = 2"))
        connection.execute(sa.text("DELETE FROM erp.barcode WHERE product_id = 3"))
        connection.execute(sa.text("DELETE FROM erp.price WHERE product_id IN (4, 5, 6, 7)"))
    read()
    assert same()


def test_a_transaction_that_stays_open_hides_nothing_and_loses_nothing(follow, erp_engine):
    read, same = follow
    book = sa.text(
        "INSERT INTO erp.stock_movement (store_id, product_id, booked_at, kind, quantity)"
        " SELECT store_id, product_id, now(), 'sale', -1 FROM erp.listing WHERE store_id = :store ORDER BY product_id LIMIT 5"
    )
    with erp_engine.connect() as slow:
        slow.execute(book, {"store": 1})
        for _ in range(3):
            with erp_engine.begin() as quick:
                quick.execute(book, {"store": 2})
            assert read() > 0
            assert same()
        slow.commit()
    assert read() > 0
    assert same()
    read()
    assert same()
