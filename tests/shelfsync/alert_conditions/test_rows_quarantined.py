"""Alert `rows_quarantined`: from which share of a store's rows on, and below which it ends."""

from __future__ import annotations

import pytest

from alert_look import PRODUCT, kinds, with_alerts
from shelfsync.alert_conditions import JUDGED_SKUS


@pytest.mark.slow
def test_a_store_of_whose_rows_too_many_cannot_be_sent_is_an_alert_until_they_can(world, context):
    known = [f"sku-{number}" for number in range(JUDGED_SKUS)]
    world.platform.put_products("store-001", [PRODUCT | {"sku": sku} for sku in ("a", *known)])
    for sku in known:
        world.erp.put("store-001", sku, "2.00")
    world.sync("full")
    assert kinds(context) == set()
    for sku in known[:2]:
        world.erp.put("store-001", sku, "EUR 2.00")
    assert world.sync("delta")["state"] == "succeeded"
    assert kinds(context) == set(), "a tenth of the rows may be faulty"
    world.erp.put("store-001", known[2], "EUR 2.00")
    assert world.sync("delta")["state"] == "succeeded", "nothing else reports it"
    assert kinds(context) == {("rows_quarantined", "store-001")}
    assert kinds(with_alerts(context, quarantined_share=1)) == set()
    for sku in known[:2]:
        world.erp.put("store-001", sku, "2.00")
    world.sync("delta")
    assert kinds(context) == set()


@pytest.mark.slow
def test_faulty_rows_around_the_share_open_and_close_nothing_and_a_store_that_has_none_left_is_one_alert(
    world, context
):
    known = [f"sku-{number}" for number in range(29)]
    world.platform.put_products("store-001", [PRODUCT | {"sku": sku} for sku in ("a", *known)])
    for sku in known:
        world.erp.put("store-001", sku, "2.00")
    for sku in known[:4]:
        world.erp.put("store-001", sku, "EUR 2.00")
    world.sync("full")
    assert kinds(context) == {("rows_quarantined", "store-001")}
    world.erp.put("store-001", known[0], "2.00")
    world.sync("delta")
    assert kinds(context) == {("rows_quarantined", "store-001")}, "a tenth of the rows, which would not open it"
    world.erp.execute("UPDATE stock SET price = 'EUR 2.00'")
    world.sync("delta")
    assert {kind for kind, _ in kinds(context)} <= {"store_failed", "run_failed"}, "every row is faulty"
    world.erp.execute("DELETE FROM stock")
    world.erp.put("store-002", "a", "2.00")
    world.sync("full")
    assert ("store_failed", "store-001") in kinds(context), "the store left the ERP"
    assert ("rows_quarantined", "store-001") not in kinds(context)
