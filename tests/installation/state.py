"""State that a command or a page needs, created as in reality: a customer orders, a buyer changes a price, a run sends."""

from __future__ import annotations

import re
import secrets
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from documents import data
from installation import campaigns
from installation.installed import CHAIN, PROJECT, clean_environment
from installation.process import run

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from installation.installed import Installation

SENDING_DAGS = re.compile(r"catalog_(?!holds)|promotions_|orders_fulfilment|housekeeping")
"""DAGs that would do first what a command is about to do. A run of catalog_holds waits for a person, and does not end before."""

GOODS = """
SELECT sku, price, quantity FROM warehouse.baseline
WHERE vendor = %(vendor)s AND active AND quantity >= 5 AND price BETWEEN 2 AND 40
    AND (max_sales_quantity IS NULL OR max_sales_quantity >= 2) AND sku ~ '^[0-9]+$'
ORDER BY sku DESC
"""
"""What a customer can order, by what the platform acknowledged."""

PRICE = """
INSERT INTO erp.price (product_id, store_id, amount, valid_from)
SELECT product.product_id, store.store_id, %(amount)s, current_date FROM erp.product, erp.store
WHERE product.item_code = %(sku)s AND store.code = %(vendor)s RETURNING price_id
"""
IN_CAMPAIGNS = "SELECT item_code FROM erp.campaign_price JOIN erp.product USING (product_id)"


HELD = 10
"""How a command ends that did its work, while held changes wait for a person."""


@dataclass
class Chain:
    """A chain with an installation, and what its people did in these tests. `folder` is a user's folder."""

    installation: Installation
    folder: Path
    campaigns: list[str] = field(default_factory=list)
    holds: list[str] = field(default_factory=list)
    _prices: list[int] = field(default_factory=list)
    _used: set[tuple[str, str]] = field(default_factory=set)

    def run(self, *words: str, config: Path | None = None) -> subprocess.CompletedProcess[str]:
        """`shelfsync …` in a separate process, with only the environment of a user's shell."""
        environment = {
            "PATH": clean_environment()["PATH"],
            "HOME": str(self.folder),
            "SHELFSYNC_CONFIG": str(config or self.config),
        }
        return run([str(PROJECT / ".venv/bin/shelfsync"), *words], environment, self.folder)

    def document(self, *words: str) -> dict[str, Any]:
        """The document of a command that has to succeed; it may leave changes that wait for a person."""
        done = self.run(*words, "--json")
        assert done.returncode in {0, HELD}, (
            f"shelfsync {' '.join(words)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        )
        return dict(data(done.stdout))

    @property
    def config(self) -> Path:
        """The settings that `make up` wrote."""
        return self.installation.home / "sample.toml"

    def goods(self, vendor: str) -> dict[str, Any]:
        """A product of a store that nothing else has touched here, and that no campaign is on."""
        promoted = {row["item_code"] for row in self.installation.erp(IN_CAMPAIGNS)}
        for row in self.installation.rows(GOODS, vendor=vendor):
            if (vendor, row["sku"]) not in self._used and row["sku"] not in promoted:
                self._used.add((vendor, row["sku"]))
                return row
        raise AssertionError(f"{vendor} has no product left to sell")

    def price(self, vendor: str, factor: str) -> str:
        """A buyer changes the price of a product; returns its SKU."""
        goods = self.goods(vendor)
        amount = (goods["price"] * Decimal(factor)).quantize(Decimal("0.01"))
        self._prices += [
            row["price_id"] for row in self.installation.erp(PRICE, sku=goods["sku"], vendor=vendor, amount=amount)
        ]
        return str(goods["sku"])

    def hold(self, vendor: str) -> str:
        """A buyer slips a decimal point, and a run holds it; returns the number of the hold."""
        self.price(vendor, "10")
        self.document("sync", "--vendor", vendor)
        waiting = self.document("holds", "list")["holds"]
        self.holds.append(str(max(row["hold_id"] for row in waiting if row["vendor"] == vendor)))
        return self.holds[-1]

    def order(self, vendor: str, **more: Any) -> str:
        """A customer orders two products, and the receiver has the event; returns the order's id."""
        items = [{"sku": self.goods(vendor)["sku"], "quantity": 1} for _ in range(2)]
        path = f"/chains/{CHAIN}/vendors/{vendor}/orders"
        order = self.installation.sandbox("POST", path, {"items": items, **more})["order_id"]
        arrived = "SELECT 1 FROM inbox.event WHERE kind = 'order' AND position(%(order)s::bytea in body) > 0"
        self.installation.until(
            lambda: self.installation.rows(arrived, order=order.encode()), f"the event of {order}", 60
        )
        return str(order)

    def campaign(self, vendor: str, share: str) -> str:
        """Marketing plans a campaign on one product at a share of its price; returns its name."""
        goods, name = self.goods(vendor), f"{vendor}-{secrets.token_hex(3)}"
        campaigns.add(self.installation, name, vendor, {goods["sku"]: goods["price"] * Decimal(share)})
        self.campaigns.append(name)
        return name

    def held_campaign(self, vendor: str) -> str:
        """A campaign with extreme discounts, which a run holds."""
        name = self.campaign(vendor, "0.1")
        self.document("promotions", "sync")
        return name

    def tidy(self) -> None:
        """The changes of prices and campaigns are taken back, nothing of them waits for a person, nothing is paused; all of it is sent."""
        self.run("resume", "store-006")
        self.run("resume", "--whole-chain")
        self.installation.erp("DELETE FROM erp.price WHERE price_id = ANY(%(ids)s)", ids=self._prices)
        for number in self.holds:
            self.run("holds", "decline", number, "--reason", "a slip of a test")
        self.run("sync", "--full")  # also the products that the sandbox was filled with
        for hold in self.document("holds", "list")["holds"]:
            if hold["subject"] == "catalog":  # the return from an approved slip is a hold, too
                self.run("holds", "approve", "--yes", str(hold["hold_id"]), "--reason", "as it was before the test")
        self.run("sync")
        for name in self.campaigns:
            campaigns.end(self.installation, name)
        if self.campaigns:  # so many ends at once are held
            self.run("promotions", "sync")
            self.run("holds", "approve", "--rule", "ended", "--yes", "--reason", "they are over")
            self.run("promotions", "sync")


@contextmanager
def sending_paused(installation: Installation) -> Iterator[None]:
    """Switches off what sends by schedule while none of its runs is under way, and switches it on again."""
    dags = installation.dags()
    named = [dag_id for dag_id, dag in dags.items() if SENDING_DAGS.match(dag_id) and not dag["is_paused"]]
    with installation.switched_off(*named):
        yield
