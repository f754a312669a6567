"""A job of which neither log nor status comes does not keep its vendor waiting beyond the deadline."""

from __future__ import annotations

import pytest

from two_products import PRODUCTS

VENDOR = "store-001"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("other", "ends_as"),
    [
        ((), ("acknowledged", 1, 0)),
        (({"at": "list_catalog", "kind": "status_400"},), ("unconfirmed", 0, 1)),
    ],
    ids=["the listing shows it", "nor can the listing be read"],
)
def test_a_status_call_that_always_fails_ends_the_job_at_its_deadline(make_world, other, ends_as):
    world = make_world(sync={"job_deadline_s": 2, "poll_first_s": 0.1, "poll_max_s": 0.2})
    world.platform.put_products(VENDOR, PRODUCTS)
    world.platform.faults({"at": "job_status", "kind": "status_400"}, *other)
    world.erp.put(VENDOR, "a", "2.00", None)
    run_id, vendors = world.begin("full", upto="deliver")
    world.app.wait(run_id, vendors)
    for word in ("confirm", "acknowledge"):
        world.app.step(word, run_id, vendors)
    found = "SELECT state, accepted, unaccounted FROM ledger.job WHERE kind = 'catalog' ORDER BY job_id DESC LIMIT 1"
    assert world.rows(found) == [ends_as]
