"""A second chain with the same store and SKUs, added to a running installation as docs/how-to/several-chains.md tells it."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from installation import shelf
from installation.installed import CHAIN, SHORT_TIMEOUTS, SHORTENED, Installation, installed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

OTHER = "north-chain"
VENDOR = "store-001"
SKUS = 40
OFF = {f"AIRFLOW__SHELFSYNC__{name}_SCHEDULE": "none" for name in ("FULL", "DELTA", "EXPORT", "PROMOTIONS")}
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


class Erp:
    """The other chain's list of prices: one store, whose SKUs are those of the first chain's."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.prices: dict[str, Decimal] = {}

    def write(self) -> None:
        """All rows at once, as a program does that renames its file into place."""
        rows = [f"{VENDOR},{sku},{price},7,true" for sku, price in self.prices.items()]
        beside = self.file.with_suffix(".new")
        beside.write_text("\n".join(["vendor,sku,price,quantity,active", *rows, ""]))
        beside.replace(self.file)


@pytest.fixture(scope="module")
def erp(reachable_folder: Path) -> Erp:
    return Erp(reachable_folder / "north.csv")


@pytest.fixture(scope="module")
def two_chains(reachable_folder: Path, erp: Erp) -> Iterator[Installation]:
    """Up as one chain, which syncs; then the second chain's section is added, and its first full sync runs."""
    with installed(reachable_folder / "two-chains", OFF | SHORT_TIMEOUTS | SHORTENED) as up:
        up.sandbox("PUT", "/settings", {"propagation_s": 0})
        up.run("catalog_full_sync")
        for number, sku in enumerate(shelf.on_sale(up, VENDOR, SKUS)):
            erp.prices[sku] = Decimal(100 + number)
        erp.write()
        file = up.home / "sample.toml"
        file.write_text(file.read_text("utf-8") + SECTIONS.format(file=erp.file), "utf-8")
        for words in (("sandbox", "fill"), ("check",), ("plan", "--full")):
            done = up.shelfsync(*words, "--chain", "north")
            assert done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
        _switch_on(up, "catalog_full_sync__north")
        up.run("catalog_full_sync__north")
        _switch_on(up, "catalog_delta_sync__north")
        yield up


def _switch_on(up: Installation, dag_id: str) -> None:
    up.until(lambda: dag_id in up.dags(), f"Airflow to know {dag_id}")
    up.call("PATCH", f"/dags/{dag_id}", json={"is_paused": False})


def _at(up: Installation, chain: str) -> dict[str, dict[str, Any]]:
    found = up.sandbox("GET", f"/chains/{chain}/vendors/{VENDOR}/products")["products"]
    return {product["sku"]: product for product in found}


def _differing(up: Installation, erp: Erp) -> list[str]:
    theirs = _at(up, OTHER)
    return [sku for sku, price in erp.prices.items() if theirs[sku]["price"] != price or not theirs[sku]["active"]]


def test_each_chain_shows_its_own_prices_of_the_same_skus(two_chains: Installation, erp: Erp) -> None:
    assert _differing(two_chains, erp) == []
    assert shelf.differences(two_chains) == []
    ours = _at(two_chains, CHAIN)
    assert [sku for sku, price in erp.prices.items() if ours[sku]["price"] == price] == []


def test_a_change_of_one_chain_is_sent_to_that_chain_alone(two_chains: Installation, erp: Erp) -> None:
    before, sku = _at(two_chains, CHAIN), next(iter(erp.prices))
    erp.prices[sku] += Decimal("1.5")
    erp.write()
    two_chains.run("catalog_delta_sync__north")
    assert _differing(two_chains, erp) == []
    assert _at(two_chains, CHAIN) == before

    shelf.move_price(two_chains, VENDOR, sku)
    two_chains.run("catalog_delta_sync")
    assert shelf.differences(two_chains) == []
    assert _differing(two_chains, erp) == []


def test_a_chain_whose_erp_cannot_be_read_stops_no_other(two_chains: Installation, erp: Erp) -> None:
    erp.file.write_text("vendor,sku\n")
    failing = two_chains.trigger("catalog_delta_sync__north")
    shelf.move_price(two_chains, VENDOR, list(erp.prices)[1])
    two_chains.run("catalog_delta_sync")
    assert shelf.differences(two_chains) == []
    two_chains.ended("catalog_delta_sync__north", failing, expect="failed")
    erp.write()
    two_chains.run("catalog_delta_sync__north")
    assert _differing(two_chains, erp) == []


def test_pages_and_commands_show_each_chain_by_itself(two_chains: Installation) -> None:
    done = two_chains.shelfsync("chains", "list", "--json")
    assert done.returncode == 0, done.stderr
    chains = {one["chain"]: one for one in json.loads(done.stdout)["data"]["chains"]}
    assert chains.keys() == {"demo", "north"}
    assert "1 of 1 stores show what the ERP says" in chains["north"]["sentence"]
    none = two_chains.shelfsync("status")
    assert none.returncode == 3
    assert "--chain demo" in none.stderr


def test_the_pages_of_the_new_chain_are_there_after_a_restart(two_chains: Installation, erp: Erp) -> None:
    two_chains.down()
    two_chains.up()
    sku = next(iter(erp.prices))
    for chain, price in (("demo", None), ("north", f"{erp.prices[sku]:.2f}")):
        page = two_chains.airflow.get(f"/shelfsync/pages/{chain}/explain", params={"vendor": VENDOR, "sku": sku})
        assert page.status_code == httpx.codes.OK, page.text[:300]
        assert sku in page.text
        assert price is None or price in page.text
    assert _differing(two_chains, erp) == []
