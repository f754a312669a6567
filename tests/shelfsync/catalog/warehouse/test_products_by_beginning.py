"""Each step of the search over all stores asks an index, and finds each product once."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from shelfsync.catalog.warehouse import products_by_beginning
from shelfsync.catalog.warehouse.products_by_beginning import _NEXT, LAST


@pytest.mark.slow
def test_each_step_of_the_search_asks_an_index(engine, monkeypatch):
    """Two hundred thousand rows of a hundred stores and one that is forgotten; a step that reads the table would be a sequential scan."""
    with engine.begin() as connection:
        connection.exec_driver_sql("""
            INSERT INTO warehouse.product (vendor, sku, barcode, on_platform, first_seen_at, seen_at)
            SELECT 'store-' || store, 'p' || number, '40' || number, true, now(), now()
            FROM generate_series(1, 101) AS store, generate_series(1, 2000) AS number
        """)
        connection.exec_driver_sql("""
            INSERT INTO ledger.vendor (vendor, fence, forgotten)
            SELECT 'store-' || store, 1, CASE store WHEN 101 THEN 'closed' END FROM generate_series(1, 101) AS store
        """)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM ANALYZE warehouse.product, ledger.vendor")
    with engine.connect() as connection:
        assert products_by_beginning.skus_beginning(connection, "p199", most=50) == [
            "p199",
            *(f"p199{n}" for n in range(10)),
        ]
        assert products_by_beginning.skus_of_barcodes(connection, "401999", most=50) == ["p1999"]
        assert products_by_beginning.stores_of(connection, ["p7", "none"])["p7"]["stores"] == 100
        monkeypatch.setattr(products_by_beginning, "STORES_MAX", 1000)
        assert products_by_beginning.stores_of(connection, ["p7"])["p7"]["stores"] == 100, (
            "the one that is forgotten is left out"
        )
        given = {"prefix": "p1", "past": "p1" + LAST, "most": 50, "skus": ["p7"], "stores": 1000, "barcodes": ["407"]}
        for statement in (
            *(_NEXT.format(column=column) for column in ("sku", "barcode")),
            products_by_beginning._STORES,
            products_by_beginning._OF_BARCODES,
        ):
            plan = "\n".join(connection.execute(sa.text("EXPLAIN " + statement), given).scalars())
            assert "Seq Scan on product" not in plan
            assert "ix_product_" in plan
