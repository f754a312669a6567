"""Pages over years of history: none reads a large table whole for the rows of today."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from long_history import Planner, fill

ORDERS = """
INSERT INTO warehouse.customer_order (order_id, vendor, status, placed_at, updated_at)
SELECT order_id, vendor, status, placed_at, updated_at FROM ledger.customer_order
"""
PAGES = (
    "/orders",
    "/orders?open=yes&order=oldest",
    "/orders?state=DISPATCHED",
    "/orders?vendor=old-1",
    "/orders?number=A7X2",
    "/orders/a7x2",
    "/quarantine",
    "/quarantine?vendor=old-1",
    "/rejections?order=last",
    "/rejections?order=times",
    "/alerts",
)


@pytest.mark.slow
def test_no_page_reads_a_large_table_whole(world, browse):
    engine = world.app.context.engine
    counts = fill(engine, 20_000)
    with engine.begin() as connection:
        counts["warehouse.customer_order"] = connection.execute(sa.text(ORDERS)).rowcount
        connection.exec_driver_sql("ANALYZE warehouse.customer_order")
    planner = Planner(engine, counts)
    assert {"ledger.vendor_run", "ledger.rejection", "warehouse.customer_order"} <= planner.big
    pages = browse(world.app)
    for path in PAGES:
        assert pages.get(path).status_code == (404 if path == "/orders/a7x2" else 200), path
        assert planner.whole == set(), path
