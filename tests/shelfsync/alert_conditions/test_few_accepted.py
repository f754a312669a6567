"""Alert `few_accepted`: the platform accepts too few SKUs of a store."""

from __future__ import annotations

import pytest

from alert_look import PRODUCT, kinds, older, with_alerts
from shelfsync.alert_conditions import JUDGED_SKUS


@pytest.mark.slow
def test_a_store_whose_skus_are_mostly_rejected_is_an_alert_until_they_are_accepted(world, context):
    known = [f"new-{number}" for number in range(JUDGED_SKUS)]
    for sku in known:
        world.erp.put("store-001", sku, "2.00")
    world.sync("delta")
    assert kinds(context) == {("rejected", "")}, "new products that the platform does not have yet"
    world.platform.put_products("store-001", [PRODUCT | {"sku": sku} for sku in ("a", *known)])
    world.sync("full")
    assert kinds(context) == set()
    older(context, "ledger.job", "ended_at", 60)
    world.platform.reset()
    for sku in known:
        world.erp.put("store-001", sku, "2.00", 7)
    world.sync("delta")
    assert ("few_accepted", "store-001") in kinds(context), "the platform had them"
    assert ("few_accepted", "store-001") not in kinds(with_alerts(context, accepted_share=0))
    world.platform.put_products("store-001", [PRODUCT | {"sku": sku} for sku in ("a", *known)])
    world.sync("full")
    assert kinds(context) == set()
