from __future__ import annotations

import pytest

from polled_jobs import PAUSES, SHORT, VENDORS


@pytest.fixture
def make_shelf(make_world):
    """A product in three stores; no webhook is configured."""

    def make(*, deadline_s=1.5, rate_limit=PAUSES, vendors=VENDORS, sync=None, **sections):
        world = make_world(
            sync={**SHORT, "job_deadline_s": deadline_s, **(sync or {})}, rate_limit=rate_limit, **sections
        )
        for vendor in vendors:
            world.platform.put_products(
                vendor, [{"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}]
            )
            world.erp.put(vendor, "a", "1.00")
        return world

    return make
