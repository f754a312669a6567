"""I4: what reaches the platform goes along what was wanted in turn, never back; value by value, each by itself."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from simulation.broken import Broken
from simulation.erp import FIRST_PRICE, VENDORS

if TYPE_CHECKING:
    from simulation.erp import Key
    from simulation.facts import Facts, Taken

PORTAL_PRICE = Decimal("9000.5")
FIRST_LIMIT = 999
"""What a product of the platform's people begins with."""
OTHERS = ("quantity", "active", "max_sales_quantity")


class Onward:
    """Checks one world. Prices and sales limits identify their version; a quantity or availability may come again."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._world = facts.world
        self._shown: dict[tuple[Key, str], int] = {}

    def check(self, taken: Taken) -> None:
        self._nothing_older_is_sent(taken)
        self._nothing_older_is_shown()

    def _nothing_older_is_sent(self, taken: Taken) -> None:
        reached: dict[tuple[Key, str], int] = {}
        for job, items in taken:
            for (sku, price_milli, *others), _error in items:
                values = dict(zip(OTHERS, others, strict=True))
                price = None if price_milli is None else Decimal(price_milli) / 1000
                for name, value in {"price": price, **values}.items():
                    if value is not None:
                        self._go_on(reached, (job.vendor, sku), name, value, f"job {job.seq} brings")

    def _nothing_older_is_shown(self) -> None:
        """At the platform, as far as it does jobs in the order in which it took them."""
        if self._facts.has_struck_now("job_first"):
            return
        for vendor in VENDORS:
            for sku, product in self._world.shown(vendor).items():
                key, price, limit = (vendor, sku), product.price, product.max_sales_quantity
                if price not in {FIRST_PRICE, PORTAL_PRICE}:
                    self._go_on(self._shown, key, "price", price, "the platform shows")
                if limit != FIRST_LIMIT:
                    self._go_on(self._shown, key, "max_sales_quantity", limit, "the platform shows")

    def _go_on(self, reached: dict[tuple[Key, str], int], key: Key, name: str, value: Any, what: str) -> None:
        erp = self._world.erp
        wanted = erp.wanted.get(key, []) if name == "price" else erp.history.get(key, {}).get(name, [])
        since = reached.get((key, name), 0)
        try:
            reached[key, name] = wanted.index(value, since)
        except ValueError:
            raise Broken(
                "I4", f"{'/'.join(key)}: {what} {name} {value}; wanted in turn {wanted}, already at {since}"
            ) from None
