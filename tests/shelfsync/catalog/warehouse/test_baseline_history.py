from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import sqlalchemy as sa

from shelfsync.catalog.warehouse import tables
from shelfsync.catalog.warehouse.baseline_history import move_baseline
from shelfsync.schemas import BASELINE


def test_the_acknowledged_state_is_merged_by_vendor_and_sku(engine, job):
    _, job_id = job

    def move(sku, price):
        row = {"sku": sku, "barcode": None, "price": price, "quantity": 1, "active": True, "max_sales_quantity": None}
        with engine.begin() as connection:
            move_baseline(connection, job_id, "store-001", pa.Table.from_pylist([row], schema=BASELINE))

    move("a", Decimal("1.000"))
    move("b", Decimal("2.000"))
    move("a", Decimal("3.000"))
    with engine.connect() as connection:
        rows = connection.execute(sa.select(tables.baseline.c.sku, tables.baseline.c.price).order_by("sku")).all()
    assert rows == [("a", Decimal("3.000")), ("b", Decimal("2.000"))]


def test_values_that_are_acknowledged_again_keep_the_job_that_changed_them(engine, job):
    _, job_id = job
    row = {"sku": "a", "price": Decimal("1.000"), "quantity": None, "active": True}
    again = [row, row | {"quantity": 1}]
    columns = tables.baseline.c

    def after(number, row):
        with engine.begin() as connection:
            move_baseline(connection, number, "store-001", pa.Table.from_pylist([row], schema=BASELINE))
            return connection.execute(sa.select(columns.job_id, columns.acknowledged_at)).one()

    first = after(job_id, again[0])
    assert after(job_id + 1, again[0]) == first
    assert after(job_id + 2, again[1]).job_id == job_id + 2


def test_a_job_that_changed_no_value_costs_no_statement(engine, job):
    _, job_id = job
    sent = []
    with engine.begin() as connection:
        sa.event.listen(connection, "before_cursor_execute", lambda *found: sent.append(found[2]))
        move_baseline(connection, job_id, "store-001", BASELINE.empty_table())
    assert sent == []
