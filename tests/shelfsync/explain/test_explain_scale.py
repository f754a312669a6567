"""Explaining one SKU among very many, with a year behind them."""

from __future__ import annotations

import datetime as dt
import statistics
import time

import pytest
import sqlalchemy as sa

from shelfsync.store import monthly_partitions

SKUS, MONTHS, VENDORS = 30_000, 13, 10
LIMIT_S = 0.2

_JOBS = """
INSERT INTO warehouse.catalog_job (job_id, run_id, vendor, state, generation, body_bytes, sent_at, ended_at)
SELECT 1000 + m * 100 + v, 1, 'many-' || v, 'acknowledged', m, 1, at, at
FROM generate_series(1, {vendors}) AS v,
    (SELECT m, now() - make_interval(months => m) AS at FROM generate_series(0, {months} - 1) AS m) AS month
"""
_OUTCOMES = """
INSERT INTO warehouse.sku_outcome (job_id, sku, known_at, vendor, state, change, price)
SELECT j.job_id, 'sku-' || s, j.ended_at, j.vendor, 'accepted', 'changed', (s + j.generation) / 100.0
FROM warehouse.catalog_job AS j, generate_series(1, {skus} / {vendors}) AS s WHERE j.job_id >= 1000
"""
_HISTORY = """
INSERT INTO warehouse.baseline_history (vendor, sku, version, valid_from, price, active, job_id)
SELECT vendor, sku, 100 - (job_id - 1000) / 100, known_at, price, true, job_id FROM warehouse.sku_outcome WHERE job_id >= 1000
"""


@pytest.mark.scale
def test_one_sku_among_400000_rows_of_thirteen_months_is_explained_at_once(world):
    world.platform.put_products("store-001", [])
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")
    sizes = {"vendors": VENDORS, "months": MONTHS, "skus": SKUS}
    with world.app.context.engine.begin() as connection:
        now = connection.execute(sa.text("SELECT now()")).scalar_one()
        for table in monthly_partitions.TABLES:
            for days in range(0, 31 * MONTHS, 20):
                monthly_partitions.ensure(connection, table, now - dt.timedelta(days=days))
        for table in ("ledger", "warehouse"):
            at = ", now()" if table == "warehouse" else ""
            columns = "(vendor, first_seen_at)" if table == "warehouse" else "(vendor)"
            connection.execute(
                sa.text(
                    f"INSERT INTO {table}.vendor {columns} SELECT 'many-' || v{at} FROM generate_series(1, {VENDORS}) AS v"
                )
            )
        for statement in (_JOBS, _OUTCOMES, _HISTORY):
            connection.execute(sa.text(statement.format(**sizes)))
    with world.app.context.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text("ANALYZE"))
    took = []
    for number in range(7):
        begun = time.perf_counter()
        found = world.app.explain(f"many-{number + 1}", f"sku-{number * 300 + 7}")
        took.append(time.perf_counter() - begun)
        assert len(found.events) == 2 * MONTHS
        assert "The platform acknowledged" in found.sentence
    assert statistics.median(took) < LIMIT_S, took
