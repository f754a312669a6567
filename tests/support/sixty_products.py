"""A store of sixty products that the platform has acknowledged, and sixty more that the platform does not know; and a second session at the same time."""

from __future__ import annotations

import threading
import time
from decimal import Decimal

V = "store-001"
SKUS = [f"s{number:03}" for number in range(60)]
NEW = [f"t{number:03}" for number in range(60)]


def fill(world):
    """The sixty products at prices from 1.50 to 60.50, ten pieces each."""
    world.platform.put_products(
        V, [{"sku": sku, "barcodes": [], "title": sku, "price": 1.0, "active": True} for sku in SKUS]
    )
    for number, sku in enumerate(SKUS):
        world.erp.put(V, sku, f"{number + 1}.50", 10)
    assert world.sync("full")["accepted"] == 60
    return world


def renumber(world):
    """Sixty products that the platform does not know, held; the platform has them at another price, and switched off."""
    both = [*((sku, True) for sku in SKUS), *((sku, False) for sku in NEW)]
    world.platform.put_products(
        V, [{"sku": sku, "barcodes": [], "title": sku, "price": 77.0, "active": active} for sku, active in both]
    )
    for sku in NEW:
        world.erp.put(V, sku, "2.50", 10)
    world.sync("delta")
    return world


def price(world, sku):
    """What customers are shown."""
    return Decimal(str(world.shown()[sku]["price"]))


def waiting(world):
    """The open holds."""
    return world.app.holds.listed("open")


def slip(world):
    """The decimal point of one price slips: ten times 2.50. The hold of it."""
    world.erp.put(V, "s001", "25.00")
    world.sync("delta")
    (hold,) = waiting(world)
    return hold


class Apart(threading.Thread):
    """Something done by another process at the same time, with its answer."""

    def __init__(self, work):
        super().__init__(daemon=True)
        self._work, self.result, self.trouble = work, None, None
        self.start()

    def run(self):
        try:
            self.result = self._work()
        except Exception as error:  # noqa: BLE001  raised by `end`
            self.trouble = error

    def waits(self, shop):
        """Returns when it waits for a lock that another session holds."""
        end = time.monotonic() + 60
        locked = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        while not shop.rows(locked):
            assert self.is_alive(), f"it ended without waiting: {self.result} {self.trouble}"
            assert time.monotonic() < end
            time.sleep(0.02)

    def end(self):
        self.join(60)
        assert not self.is_alive()
        if self.trouble is not None:
            raise self.trouble
        return self.result


def twenty_five(shop):
    """Twenty prices grow by half and five by more: one hold of `price_change`; its number."""
    for number, sku in enumerate(SKUS[:25]):
        shop.erp.put(V, sku, f"{(number + 1.5) * (1.5 if number < 20 else 1.8):.2f}")
    shop.sync("delta")
    return next(hold["hold_id"] for hold in waiting(shop) if (hold["rule"], hold["rows"]) == ("price_change", 25))
