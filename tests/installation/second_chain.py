"""A second chain, added to a running installation as docs/how-to/several-chains.md tells it: one store, with id and SKUs of the first chain's."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from installation import shelf

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from installation.installed import Installation

NAME = "north"
OTHER = "north-chain"
VENDOR = "store-001"
SKUS = 40
SECTIONS = """
[chains.demo]
was_alone = true

[chains.north]
currency = "NOK"
[chains.north.platform]
chain = "north-chain"
client_id = "north-client"
client_secret = "north-secret-of-a-trial-0123456789"
[chains.north.erp]
source = "files"
files = "{file}"
"""


class SecondChain:
    """Its list of prices, which is its ERP, and what the platform has of it."""

    def __init__(self, up: Installation, file: Path) -> None:
        self._up = up
        self.file = file
        self.prices: dict[str, Decimal] = {}
        self.dags: set[str] = set()
        """Those that were switched on."""

    def add(self, dags: Sequence[str], more: str = "") -> None:
        """Its section, with more settings behind it; the sandbox filled, checked and planned; the first full sync; then these DAGs switched on."""
        for number, sku in enumerate(shelf.on_sale(self._up, VENDOR, SKUS)):
            self.prices[sku] = Decimal(100 + number)
        self.write()
        settings = self._up.home / "sample.toml"
        settings.write_text(settings.read_text("utf-8") + SECTIONS.format(file=self.file) + more, "utf-8")
        for words in (("sandbox", "fill"), ("check",), ("plan", "--full")):
            done = self._up.shelfsync(*words, "--chain", NAME)
            assert done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
        self._switch_on("catalog_full_sync")
        self._up.run(f"catalog_full_sync__{NAME}")
        for dag_id in dags:
            self._switch_on(dag_id)

    def write(self) -> None:
        """All rows at once, as a program does that renames its file into place."""
        rows = [f"{VENDOR},{sku},{price},7,true" for sku, price in self.prices.items()]
        beside = self.file.with_suffix(".new")
        beside.write_text("\n".join(["vendor,sku,price,quantity,active", *rows, ""]))
        beside.replace(self.file)

    def products(self, chain: str = OTHER) -> dict[str, dict[str, Any]]:
        """SKU -> what the platform holds of the store in a chain."""
        found = self._up.sandbox("GET", f"/chains/{chain}/vendors/{VENDOR}/products")["products"]
        return {product["sku"]: product for product in found}

    def differing(self) -> list[str]:
        """SKUs whose price at the platform is not that of the list, or that customers cannot buy."""
        theirs = self.products()
        return [sku for sku, price in self.prices.items() if theirs[sku]["price"] != price or not theirs[sku]["active"]]

    def _switch_on(self, dag_id: str) -> None:
        name = f"{dag_id}__{NAME}"
        self._up.until(lambda: name in self._up.dags(), f"Airflow to know {name}")
        self._up.call("PATCH", f"/dags/{name}", json={"is_paused": False})
        self.dags.add(name)
