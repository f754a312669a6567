"""The old promotion ends when the platform has made the one that takes its place, not when it has taken the request: better the old one than none."""

from __future__ import annotations

import pytest

from promotion_shop import STORES


def _forget_the_wait(shop):
    with shop.world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.promotion SET retry_at = NULL")


@pytest.mark.slow
def test_the_old_promotion_stays_while_the_job_of_its_replacement_failed(shop):
    shop.erp.put("c1", "a", "8")
    shop.sync()
    shop.erp.change("c1", name="Another")
    shop.world.platform.faults({"at": "job", "kind": "failed", "times": 1})
    assert shop.sync()["state"] == "partly_failed"
    assert (shop.seen(), shop.states()) == ({"a": 8.0}, ["Running"])
    summary = shop.sync()
    assert (shop.seen(), shop.states()) == ({"a": 8.0}, ["Running"]), "the next run must not end it either"
    assert any("its replacement is not created yet" in line for line in summary["lines"])
    _forget_the_wait(shop)
    shop.world.platform.faults({"at": "job", "kind": "failed", "times": 1})
    shop.sync()
    assert (shop.seen(), shop.states()) == ({"a": 8.0}, ["Running"]), "nor the run that sends the replacement again"
    _forget_the_wait(shop)
    assert shop.sync()["state"] == "succeeded"
    assert (shop.seen(), shop.states()) == ({"a": 8.0}, ["Cancelled", "Running"])


@pytest.mark.slow
def test_the_old_promotion_stays_while_its_replacement_is_unconfirmed(make_shop):
    shop = make_shop(promotions={"job_deadline_s": 1.0})
    shop.erp.put("c1", "a", "8")
    shop.sync()
    shop.erp.change("c1", name="Another")
    shop.world.platform.faults({"at": "promotion_status", "kind": "unknown_status", "times": 99})
    assert shop.sync()["state"] == "partly_failed"
    assert (shop.seen(), shop.states()[0]) == ({"a": 8.0}, "Running")
    shop.world.platform.faults()
    _forget_the_wait(shop)
    assert shop.sync()["state"] == "succeeded"
    assert (shop.seen(), shop.states()) == ({"a": 8.0}, ["Cancelled", "Running"])


@pytest.mark.slow
def test_the_old_promotion_stays_while_the_platform_rejects_every_sku_of_its_replacement(shop):
    shop.erp.put("c1", "a", "8")
    shop.sync()
    shop.erp.change("c1", name="Another")
    shop.world.platform.put_products("store-001", [{"sku": "a", "title": "a", "price": 7.0, "active": True}])
    assert shop.sync()["pairs"]["rejected"] == 1
    assert shop.states() == ["Running"]
    summary = shop.sync()
    assert (summary["counts"]["requests"], shop.states()) == (0, ["Running"])
    assert any("its replacement is not created yet" in line for line in summary["lines"])
    shop.world.platform.put_products("store-001", [{"sku": "a", "title": "a", "price": 10.0, "active": True}])
    with shop.world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.promotion_rejection SET last_at = last_at - interval '2 days'")
    shop.sync()
    assert (shop.seen(), shop.states()) == ({"a": 8.0}, ["Cancelled", "Running"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        {"at": "job", "kind": "failed"},
        pytest.param({"at": "put_promotion", "kind": "status_400"}, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("name", ["Spring", "Offer c1"], ids=["created", "joined"])
def test_the_promotions_of_campaigns_that_are_merged_stay_until_the_merged_one_is_made(shop, name, fault):
    """Created: neither promotion has the new name. Joined: the first one has it, and gets the SKUs of the second."""
    shop.erp.put("c1", "a", "8")
    shop.erp.put("c2", "b", "7")
    shop.sync()
    for campaign in ("c1", "c2"):
        shop.erp.change(campaign, name=name)
    shop.world.platform.faults({**fault, "times": 1})
    for _ in range(2):
        shop.sync()
        assert (shop.seen(), shop.states()) == ({"a": 8.0, "b": 7.0}, ["Running", "Running"])
    _forget_the_wait(shop)
    assert shop.sync()["state"] == "succeeded"
    assert shop.seen() == {"a": 8.0, "b": 7.0}
    running = [row["display_name"]["en_GB"] for row in shop.portal() if row["state"] == "Running"]
    assert running == [name]


@pytest.mark.slow
@pytest.mark.parametrize("again", [False, True])
def test_a_vendor_that_the_platform_rejects_blocks_no_promotion_of_other_vendors(shop, again):
    for vendor, price in zip(STORES[:2], ("8", "7"), strict=True):
        shop.erp.put("c1", "a", price, vendor=vendor)
    shop.sync()
    if again:
        shop.erp.put("c1", "a", "6", vendor="store-404", base_price="10")
        shop.sync()
    shop.erp.change("c1", name="Another")
    shop.erp.put("c1", "a", "6", vendor="store-404", base_price="10", name="Another")
    shop.sync()
    assert (shop.seen(), shop.seen("store-002")) == ({"a": 8.0}, {"a": 7.0})
    assert sorted(shop.states()) == ["Cancelled", "Cancelled", "Running", "Running"]


@pytest.mark.slow
def test_a_promotion_of_all_vendors_ends_for_another_of_all_vendors(make_shop):
    shop = make_shop(promotions={"all_vendors": "star"})
    shop.erp.put("c1", "a", "8", vendor=None)
    shop.sync()
    shop.erp.change("c1", name="Another")
    assert shop.sync()["state"] == "succeeded"
    assert (shop.seen("store-003"), shop.states()) == ({"a": 8.0}, ["Cancelled", "Running"])
