"""Readers wait for no writer: a step that locks a vendor's row stops no page, no command and no plan."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from shelfsync.catalog.ledger import batches, vendors
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.steps import failed_job, vendor_back_off
from shelfsync.warehouse.every_table import metadata

pytestmark = pytest.mark.slow

VENDOR = "store-001"
LOCK_NOT_AVAILABLE = "55P03"
READINGS = {
    "status": lambda shop: shop.world.app.status(),
    "explain": lambda shop: shop.world.app.explain(VENDOR, "a"),
    "holds": lambda shop: shop.world.app.holds.listed(),
    "rejections": lambda shop: shop.world.app.rejections(VENDOR),
    "switches": lambda shop: shop.world.app.switches(),
    "promotions": lambda shop: shop.world.app.promotions.status(),
    "inbox": lambda shop: shop.world.app.inbox.listed(),
    "orders": lambda shop: shop.world.app.orders.orders(),
    "backtest": lambda shop: shop.world.app.holds.backtest(),
    "the cause of a failed job": lambda shop: failed_job.failure_of(shop.world.app.context, *_newest_job(shop)),
    "a vendor that waits": lambda shop: vendor_back_off.raise_if_waiting(shop.world.app.context, VENDOR, "FAILED"),
}


def _newest_job(shop):
    with shop.world.app.context.engine.connect() as connection:
        job = catalog_jobs.read(
            connection, shop.rows("SELECT max(job_id) FROM ledger.job WHERE kind = 'catalog'")[0][0]
        )
        batch = batches.read(connection, job.batch_id)
    return job, batch, shop.world.app.context.lake.read_table(batch.items_path)


@pytest.fixture
def other(shop):
    """The connection of another process, which holds what it locks."""
    engine = sa.create_engine(shop.world.settings.database_url.get_secret_value())
    with engine.connect() as connection:
        yield connection
    engine.dispose()


@pytest.fixture
def full(shop):
    """A shop with a promotion, a hold and a job that failed; its app waits for no lock."""
    shop.erp.put("offer", "a", "8")
    shop.sync()
    shop.world.erp.put(VENDOR, "a", "900.00")
    shop.world.sync("delta")
    shop.world.platform.faults({"at": "job", "kind": "failed", "times": 1})
    shop.world.erp.put(VENDOR, "b", "11.00")
    shop.world.sync("delta")
    assert shop.rows("SELECT consecutive_failures FROM ledger.vendor WHERE vendor = 'store-001'") == [(1,)]
    sa.event.listen(
        shop.world.app.context.engine, "begin", lambda one: one.exec_driver_sql("SET LOCAL lock_timeout = '1s'")
    )
    return shop


def test_what_only_reads_waits_for_no_row_of_any_table(full, other):
    for table in metadata.tables.values():
        other.execute(sa.select(sa.literal(1)).select_from(table).with_for_update())
    assert [name for name, read in READINGS.items() if _is_blocked(read, full)] == []


def _is_blocked(read, shop) -> bool:
    try:
        read(shop)
    except sa.exc.OperationalError as error:
        if error.orig.sqlstate != LOCK_NOT_AVAILABLE:
            raise
        return True
    return False


def test_a_plan_is_made_while_a_step_holds_the_vendor(full, other):
    vendors.lock(other, VENDOR)
    full.world.erp.put(VENDOR, "c", "11.00")
    summary = full.world.sync("delta", VENDOR, dry_run=True)
    assert summary["state"] == "succeeded"
    assert full.world.app.plan(summary["run"])
