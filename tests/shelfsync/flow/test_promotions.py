"""The life of a promotion from the ERP's table to the platform and the warehouse, over HTTP, a real database and a real lake."""

from __future__ import annotations

import datetime as dt
import itertools
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from promotion_erp import SQL, PromotionErp

_keys = itertools.count(1)
SKUS = ("a", "b", "c", "d")


@dataclass
class Shop:
    """A world whose catalog is in sync: four SKUs at 10 in each of three stores; and the ERP's promotions."""

    world: Any
    erp: PromotionErp

    def sync(self, *, dry_run: bool = False) -> dict[str, Any]:
        path = self.world.house.promotions
        return path.sync(path.open_run(f"test/{next(_keys)}", dry_run=dry_run))

    def seen(self, vendor: str = "store-001") -> dict[str, float]:
        """What customers see struck through: SKU -> price."""
        shown = self.world.platform.products(vendor)
        return {sku: row["app"]["promotion"]["price"] for sku, row in shown.items() if row["app"]["promotion"]}

    def portal(self) -> list[dict[str, Any]]:
        """The promotions of the platform's portal, oldest first."""
        return self.world.platform.control("GET", "chains/demo-chain/promotions")["promotions"][::-1]

    def states(self) -> list[str]:
        return [row["state"] for row in self.portal()]

    def puts(self) -> int:
        entries = self.world.platform.journal()["entries"]
        return sum(entry["operation"] == "put_promotion" for entry in entries)

    def rows(self, statement: str) -> list[Any]:
        return [tuple(row) for row in self.world.rows(statement)]


STORES = ("store-001", "store-002", "store-003")


@pytest.fixture
def make_shop(make_world, erp, platform):
    def make(**sections: Any) -> Shop:
        promotions = {"sql": SQL, "poll_first_s": 0.05, "poll_max_s": 0.2, **sections.pop("promotions", {})}
        world = make_world(promotions=promotions, **sections)
        platform.control("PUT", "settings", {"promotion_propagation_s": 0.0})
        for vendor in STORES:
            platform.put_products(vendor, [{"sku": sku, "title": sku, "price": 9.0, "active": True} for sku in SKUS])
            for sku in SKUS:
                erp.put(vendor, sku, "10.00")
        assert world.sync("full")["state"] == "succeeded"
        return Shop(world, PromotionErp(erp, dt.datetime.now(dt.UTC)))

    return make


@pytest.fixture
def shop(make_shop) -> Shop:
    return make_shop()


def test_a_campaign_of_the_erp_is_what_customers_see(shop):
    shop.erp.put("c1", "a", "7.999")
    shop.erp.put("c1", "b", "5.5559")
    summary = shop.sync()
    assert (summary["state"], summary["pairs"]) == (
        "succeeded",
        {"sent": 2, "accepted": 2, "refused": 0, "unaccounted": 0},
    )
    assert shop.seen() == {"a": 7.999, "b": 5.555}
    assert shop.seen("store-002") == {}
    assert shop.states() == ["Running"]
    assert shop.rows("SELECT campaign, state, skus, vendors FROM warehouse.promotion") == [("c1", "told", 2, 1)]
    assert shop.rows("SELECT sku, value, known FROM warehouse.promotion_sku ORDER BY 1") == [
        ("a", Decimal("7.999"), True), ("b", Decimal("5.555"), True)
    ]  # fmt: skip
    assert shop.rows("SELECT sku, vendor, state FROM warehouse.promotion_outcome ORDER BY 1") == [
        ("a", "*", "accepted"),
        ("b", "*", "accepted"),
    ]


def test_a_second_run_sends_nothing(shop):
    shop.erp.put("c1", "a", "8", vendor=None)
    shop.sync()
    before = shop.puts()
    summary = shop.sync()
    assert (summary["state"], shop.puts() - before, summary["counts"]["requests"]) == ("succeeded", 0, 0)


def test_vendors_with_the_same_skus_and_prices_share_a_promotion_and_others_do_not(shop):
    shop.erp.put("c1", "a", "8", vendor=None)
    shop.erp.put("c1", "a", "7", vendor="store-003")
    shop.sync()
    assert [sorted(row["vendors"]) for row in shop.portal()] == [["store-001", "store-002"], ["store-003"]]
    assert [shop.seen(vendor) for vendor in STORES] == [{"a": 8.0}, {"a": 8.0}, {"a": 7.0}]


def test_another_price_changes_the_running_promotion_and_one_sku_out_leaves_the_others(shop):
    for sku in ("a", "b", "c"):
        shop.erp.put("c1", sku, "8")
    shop.sync()
    shop.erp.put("c1", "a", "6")
    shop.erp.drop("c1", "b")
    shop.erp.put("c1", "d", "5")
    summary = shop.sync()
    assert summary["counts"]["changed"] == 1
    assert shop.seen() == {"a": 6.0, "c": 8.0, "d": 5.0}
    assert shop.states() == ["Running"]
    assert shop.rows("SELECT sku, active FROM warehouse.promotion_outcome WHERE job_id = 2 ORDER BY 1") == [
        ("a", True),
        ("b", False),
        ("d", True),
    ]


def test_a_campaign_that_left_the_erp_is_ended_with_the_data_of_its_creation(shop):
    shop.erp.put("c1", "a", "8")
    shop.erp.put("c1", "b", "8")
    shop.erp.put("c2", "c", "8")
    shop.sync()
    shop.erp.put("c1", "a", "6")
    shop.sync()
    shop.erp.drop("c1")
    assert shop.sync()["counts"]["ended"] == 1
    assert shop.seen() == {"c": 8.0}
    assert sorted(shop.states()) == ["Cancelled", "Running"]
    bodies = shop.rows(
        "SELECT DISTINCT body_path FROM ledger.promotion_job WHERE promotion_id = 1 AND action IN ('create', 'end')"
    )
    assert len(bodies) == 1
    assert shop.sync()["counts"]["requests"] == 0


@pytest.mark.parametrize("change", [{"name": "Another name"}, {"end_time": "2099-01-01T00:00:00+00:00"}])
def test_another_name_or_window_ends_the_old_promotion_and_makes_a_new_one(shop, change):
    shop.erp.put("c1", "a", "8")
    shop.sync()
    shop.erp.change("c1", **change)
    summary = shop.sync()
    assert (summary["counts"]["created"], summary["counts"]["ended"]) == (1, 1)
    assert shop.states() == ["Cancelled", "Running"]
    assert shop.seen() == {"a": 8.0}
    assert shop.sync()["counts"]["requests"] == 0


def test_a_vendor_that_joins_makes_another_promotion_because_vendors_are_part_of_its_identity(shop):
    shop.erp.put("c1", "a", "8")
    shop.sync()
    shop.erp.put("c1", "a", "8", vendor="store-002")
    shop.sync()
    assert [(row["state"], row["vendors"]) for row in shop.portal()] == [
        ("Cancelled", ["store-001"]), ("Running", ["store-001", "store-002"])
    ]  # fmt: skip


def test_what_was_ended_can_be_wanted_again(shop):
    shop.erp.put("c0", "d", "8")
    shop.erp.put("c1", "a", "8")
    shop.sync()
    shop.erp.drop("c1")
    shop.sync()
    shop.erp.put("c1", "a", "7")
    shop.sync()
    assert shop.seen() == {"a": 7.0, "d": 8.0}
    assert shop.rows("SELECT state FROM ledger.promotion WHERE campaign = 'c1'") == [("told",)]


def test_a_promotion_is_told_before_it_begins_and_needs_nothing_when_its_time_is_over(make_shop):
    shop = make_shop()
    shop.erp.put("soon", "a", "8", start=1, end=2)
    shop.erp.put("past", "b", "8", start=-2, end=-1)
    shop.sync()
    assert shop.states() == ["Upcoming"]
    assert shop.seen() == {}
    assert [row["state"] for row in shop.world.house.promotions.status()["promotions"]] == ["upcoming"]


def test_what_the_platform_refuses_is_known_pair_by_pair_and_not_repeated(shop):
    shop.world.platform.put_products("store-002", [{"sku": "a", "title": "a", "price": 7.0, "active": True}])
    for sku in ("a", "b"):
        shop.erp.put("c1", sku, "8", vendor=None)
    summary = shop.sync()
    assert summary["pairs"] == {"sent": 6, "accepted": 4, "refused": 2, "unaccounted": 0}
    refused = shop.rows(
        "SELECT vendor, sku, reason FROM warehouse.promotion_outcome WHERE state = 'refused' ORDER BY 2"
    )
    assert refused == [("store-002", "a", "invalid discounted SKU"), ("store-002", "b", "missing SKU")]
    before = shop.puts()
    shop.sync()
    assert shop.puts() == before
    shop.erp.put("c1", "a", "6", vendor=None)
    shop.sync()
    assert shop.seen("store-002") == {"a": 6.0}
    assert shop.rows("SELECT sku FROM ledger.promotion_rejection") == [("b",)]


def test_a_vendor_nobody_knows_is_told_and_stops_no_other(shop):
    shop.erp.put("c1", "a", "8", vendor="store-404")
    shop.erp.put("c2", "b", "8")
    summary = shop.sync()
    assert summary["pairs"] == {"sent": 2, "accepted": 1, "refused": 1, "unaccounted": 0}
    assert shop.rows("SELECT vendor, reason FROM warehouse.promotion_outcome WHERE state = 'refused'") == [
        ("store-404", "invalid vendor")
    ]
    assert shop.rows("SELECT campaign, state FROM ledger.promotion ORDER BY 1") == [("c1", "failed"), ("c2", "told")]
    before = shop.puts()
    shop.sync()
    assert shop.puts() == before
