"""A store whose rows have all left the ERP."""

from __future__ import annotations

import pytest

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


@pytest.mark.slow
def test_a_store_whose_id_came_written_otherwise_is_not_told_as_closed(world):
    """The advice for a closed store takes its products off sale."""
    for vendor in ("store-001", "store-002"):
        world.platform.put_products(vendor, [A])
        world.erp.put(vendor, "a", "2.00")
    world.sync("full")
    world.erp.execute("UPDATE stock SET vendor = 'STORE-2' WHERE vendor = 'store-002'")
    for _ in range(2):  # the second run has seen the other id before
        failed = {row["vendor"]: row["error"] for row in world.sync("delta")["vendors"]}
        assert (
            "The extract has 'STORE-2', which may be this store: name its id by SHELFSYNC_ERP__VENDOR_IDS"
            in failed["store-002"]
        )
        assert "forget" not in failed["store-002"]
    assert all(row["active"] for row in world.shown("store-002").values())
