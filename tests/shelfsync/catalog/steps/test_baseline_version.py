"""Every move of a baseline is computed from the version in force, and committed whole or not at all."""

from __future__ import annotations

import pyarrow as pa
import pytest

from shelfsync.catalog.steps.baseline_version import Move, move_baseline
from shelfsync.errors import MovedError
from shelfsync.store.compare_and_swap import ATTEMPTS
from shelfsync.vendors.under_lease import holding

VENDOR = "store-001"


def _shop(world):
    world.platform.put_products(
        VENDOR, [{"sku": sku, "barcodes": [], "title": sku, "price": 9.99, "active": True} for sku in "ab"]
    )
    for sku in "ab":
        world.erp.put(VENDOR, sku, "1.00")
    world.sync("full")


@pytest.fixture
def shop(world_after):
    return world_after(_shop)


def _versions(shop):
    return [row.version for row in shop.rows("SELECT version FROM ledger.baseline ORDER BY version")]


def _prices(shop):
    return [row.price for row in shop.rows("SELECT price FROM warehouse.baseline ORDER BY sku")]


def _unknown_prices(shop, overtaken, *, seen, noted):
    """Computes a version without prices; the first `overtaken` times another process moves the baseline before it is written."""

    def compute(base):
        seen.append(base.version.version)
        if len(seen) <= overtaken:
            with shop.app.context.engine.begin() as connection:
                for statement in _OVERTAKES:
                    connection.exec_driver_sql(statement)
        place = base.rows.column_names.index("price")
        unknown = pa.nulls(base.rows.num_rows, base.rows.schema.field("price").type)
        rows = base.rows.set_column(place, base.rows.schema.field("price"), unknown)
        return Move(rows, 1, noted.append, observation_id=7)

    return compute


_OVERTAKES = (
    (
        "INSERT INTO ledger.baseline (vendor, version, path, rows, generation, observation_id, created_at)"
        " SELECT vendor, version + 1, path, rows, generation, 100 + version, now() FROM ledger.baseline"
        " ORDER BY version DESC LIMIT 1"
    ),
    "UPDATE ledger.vendor SET baseline_version = baseline_version + 1",
)


@pytest.mark.slow
def test_a_baseline_that_moved_meanwhile_is_read_again(shop):
    seen, noted, context = [], [], shop.app.context
    with holding(context, VENDOR) as lease:
        assert move_baseline(context, lease, VENDOR, _unknown_prices(shop, 1, seen=seen, noted=noted))
    assert (seen, len(noted)) == ([1, 2], 1)  # what is committed with the move is written once
    assert _versions(shop) == [1, 2, 3]
    assert _prices(shop) == [None, None]


def test_a_baseline_that_moves_each_time_is_left_to_the_schedule(shop):
    seen, noted, context = [], [], shop.app.context
    with holding(context, VENDOR) as lease, pytest.raises(MovedError, match=f"vendor {VENDOR} moved 3 times"):
        move_baseline(context, lease, VENDOR, _unknown_prices(shop, 99, seen=seen, noted=noted))
    assert (len(seen), noted) == (ATTEMPTS, [])
    assert None not in _prices(shop)


def test_a_move_that_was_made_before_writes_nothing(shop):
    noted, context = [], shop.app.context
    with holding(context, VENDOR) as lease:
        compute = _unknown_prices(shop, 0, seen=[], noted=noted)
        assert not move_baseline(context, lease, VENDOR, compute, still=lambda _: False)
    assert (_versions(shop), noted) == ([1], [])
    assert None not in _prices(shop)
