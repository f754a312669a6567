"""Every table of the warehouse is declared: as a mirror of the ledger, or as one that is loaded. What was changed is copied."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from shelfsync.catalog.warehouse import record as catalog
from shelfsync.promotions.warehouse import record as promotions
from shelfsync.store.mirror import Mirror
from shelfsync.warehouse.every_table import metadata

MIRRORS = [one for module in (catalog, promotions) for one in vars(module).values() if isinstance(one, Mirror)]
LOADED = {
    *("baseline", "baseline_history", "missed_change", "quarantine", "sku_outcome"),
    *("assortment_history", "drift", "drift_count", "observation", "product"),
    *("promotion_finding", "promotion_outcome", "promotion_quarantine", "promotion_sku"),
    *("customer_order", "order_customer", "order_item", "order_promotion"),
}
"""Tables with rows that the ledger does not have."""


def test_every_table_of_the_warehouse_is_a_mirror_or_loaded():
    tables = {table.name for table in metadata.tables.values() if table.schema == "warehouse"}
    mirrored = [mirror.table.name for mirror in MIRRORS]
    assert len(set(mirrored)) == len(mirrored)
    assert tables == {*mirrored, *LOADED}
    assert not LOADED & set(mirrored)


@pytest.mark.parametrize("mirror", MIRRORS, ids=lambda mirror: mirror.table.name)
def test_a_mirror_names_columns_of_its_table_and_all_that_must_have_a_value(mirror):
    names = set(mirror.rows.selected_columns.keys())
    columns = mirror.table.columns
    assert names <= set(columns.keys())
    assert {one.name for one in columns if not one.nullable and one.server_default is None} <= names
    assert mirror.first_stays <= names


def _differing(engine, mirror):
    """The rows that ledger and warehouse do not have alike."""
    ledger = mirror.rows.subquery()
    names = [name for name in mirror.rows.selected_columns.keys() if name not in mirror.first_stays]  # noqa: SIM118
    with engine.connect() as connection:
        here, there = (
            {repr(tuple(row)) for row in connection.execute(sa.select(*(of.c[name] for name in names)))}
            for of in (ledger, mirror.table)
        )
    return here ^ there, here & there


@pytest.mark.slow
def test_a_day_of_catalog_and_promotions_leaves_every_mirror_equal_to_the_ledger(shop):
    shop.world.erp.put("store-001", "a", "11.00")
    shop.world.erp.put("store-002", "unknown", "1.00")
    shop.world.sync("delta")
    shop.erp.put("c1", "a", "8.00")
    shop.sync()
    for mirror in MIRRORS:
        differing, alike = _differing(shop.world.app.context.engine, mirror)
        assert (mirror.table.name, differing) == (mirror.table.name, set())
        assert alike


@pytest.mark.slow
def test_no_row_is_copied_that_is_not_named(shop):
    engine = shop.world.app.context.engine
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.run SET error = 'changed'")
        catalog.RUN.copy(connection, [])
        catalog.RUN.copy(connection, [0])
    assert shop.rows("SELECT count(*) FROM warehouse.sync_run WHERE error = 'changed'") == [(0,)]
