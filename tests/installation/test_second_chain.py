"""A second chain with the same store and SKUs, added to a running installation as docs/how-to/several-chains.md tells it."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING

import httpx
import pytest

from installation import shelf
from installation.installed import CHAIN, SHORT_TIMEOUTS, SHORTENED, Installation, installed
from installation.second_chain import VENDOR, SecondChain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

OFF = {f"AIRFLOW__SHELFSYNC__{name}_SCHEDULE": "none" for name in ("FULL", "DELTA", "EXPORT", "PROMOTIONS")}


@pytest.fixture(scope="module")
def two_chains(reachable_folder: Path) -> Iterator[Installation]:
    """Up as one chain, which has synced."""
    with installed(reachable_folder / "two-chains", OFF | SHORT_TIMEOUTS | SHORTENED) as up:
        up.sandbox("PUT", "/settings", {"propagation_s": 0})
        up.run("catalog_full_sync")
        yield up


@pytest.fixture(scope="module")
def north(two_chains: Installation, reachable_folder: Path) -> SecondChain:
    """The second chain, added and synced."""
    chain = SecondChain(two_chains, reachable_folder / "north.csv")
    chain.add(["catalog_delta_sync"])
    return chain


def test_each_chain_shows_its_own_prices_of_the_same_skus(two_chains: Installation, north: SecondChain) -> None:
    assert north.differing() == []
    assert shelf.differences(two_chains) == []
    ours = north.products(CHAIN)
    assert [sku for sku, price in north.prices.items() if ours[sku]["price"] == price] == []


def test_a_change_of_one_chain_is_sent_to_that_chain_alone(two_chains: Installation, north: SecondChain) -> None:
    before, sku = north.products(CHAIN), next(iter(north.prices))
    north.prices[sku] += Decimal("1.5")
    north.write()
    two_chains.run("catalog_delta_sync__north")
    assert north.differing() == []
    assert north.products(CHAIN) == before

    shelf.move_price(two_chains, VENDOR, sku)
    two_chains.run("catalog_delta_sync")
    assert shelf.differences(two_chains) == []
    assert north.differing() == []


def test_a_chain_whose_erp_cannot_be_read_stops_no_other(two_chains: Installation, north: SecondChain) -> None:
    north.file.write_text("vendor,sku\n")
    failing = two_chains.trigger("catalog_delta_sync__north")
    shelf.move_price(two_chains, VENDOR, list(north.prices)[1])
    two_chains.run("catalog_delta_sync")
    assert shelf.differences(two_chains) == []
    two_chains.ended("catalog_delta_sync__north", failing, expect="failed")
    north.write()
    two_chains.run("catalog_delta_sync__north")
    assert north.differing() == []


@pytest.mark.usefixtures("north")
def test_pages_and_commands_show_each_chain_by_itself(two_chains: Installation) -> None:
    done = two_chains.shelfsync("chains", "list", "--json")
    assert done.returncode == 0, done.stderr
    chains = {one["chain"]: one for one in json.loads(done.stdout)["data"]["chains"]}
    assert chains.keys() == {"demo", "north"}
    assert "1 of 1 stores show what the ERP says" in chains["north"]["sentence"]
    none = two_chains.shelfsync("status")
    assert none.returncode == 3
    assert "--chain demo" in none.stderr


def test_the_pages_of_the_new_chain_are_there_after_a_restart(two_chains: Installation, north: SecondChain) -> None:
    two_chains.down()
    two_chains.up()
    sku = next(iter(north.prices))
    for chain, price in (("demo", None), ("north", f"{north.prices[sku]:.2f}")):
        page = two_chains.airflow.get(f"/shelfsync/pages/{chain}/explain", params={"vendor": VENDOR, "sku": sku})
        assert page.status_code == httpx.codes.OK, page.text[:300]
        assert sku in page.text
        assert price is None or price in page.text
    assert north.differing() == []
