"""A chain whose catalog is in sync, with a table of promotions beside it."""

from __future__ import annotations

import datetime as dt
import itertools
from dataclasses import dataclass
from typing import Any

from promotion_erp import SQL, PromotionErp

_keys = itertools.count(1)
SKUS = ("a", "b", "c", "d")
STORES = ("store-001", "store-002", "store-003")
SETTINGS = {"sql": SQL, "poll_first_s": 0.05, "poll_max_s": 0.2}


@dataclass
class Shop:
    """A world whose catalog is in sync: four SKUs at 10 in each of three stores; and the ERP's promotions."""

    world: Any
    erp: PromotionErp

    def sync(self, *, dry_run: bool = False) -> dict[str, Any]:
        path = self.world.app.promotions
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


def open_shop(make_world: Any, /, **sections: Any) -> Shop:
    """A shop of its own; `sections` are settings by name, as `make_world` takes them."""
    world = make_world(promotions=SETTINGS | sections.pop("promotions", {}), **sections)
    _sync(world)
    return _with_promotions(world)


def copied_shop(world_after: Any) -> Shop:
    """A shop with the usual settings, whose catalog other tests of the file have brought in sync."""
    world = world_after(_sync, promotions=SETTINGS)
    _show_at_once(world)
    return _with_promotions(world)


def _sync(world: Any) -> None:
    _show_at_once(world)
    for vendor in STORES:
        world.platform.put_products(vendor, [{"sku": sku, "title": sku, "price": 9.0, "active": True} for sku in SKUS])
        for sku in SKUS:
            world.erp.put(vendor, sku, "10.00")
    assert world.sync("full")["state"] == "succeeded"


def _show_at_once(world: Any) -> None:
    world.platform.control("PUT", "settings", {"promotion_propagation_s": 0.0, "propagation_s": 0.0})


def _with_promotions(world: Any) -> Shop:
    return Shop(world, PromotionErp(world.erp, dt.datetime.now(dt.UTC)))
