"""A stranger asks, and the pages answer by what is visible: the nine scenarios, over a chain with something on each page."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import httpx
import pytest

from browser_fixture import browser, chromium
from nine_scenarios import SCENARIOS, Chain, Hold, Order, Person, Product
from shown_chain import shown

__all__ = ["browser", "chromium", "shown"]
pytestmark = [pytest.mark.browser, pytest.mark.slow]

HOLD = Hold(number=1, vendor="store-001", run=2, sku="a3", before="1.00", after="900.00")
CHAIN = Chain(
    user="ada",
    held=HOLD,
    declined=HOLD,
    approved=HOLD,
    paused="store-002",
    paused_by="ada",
    paused_why="stocktaking",
    alert="sending is paused (store store-002)",
    rejecting="store-001",
    reason="product not found in the catalog of the vendor",
    rejected_sku="unknown",
    columns=("vendor", "article", "name"),
    product=Product("store-001", "a4", ("a4", "milk 4"), "1.00"),
    managed="store-001",
    order=Order("", (), ""),
)


@pytest.fixture
def person(shown, browser, tmp_path):
    """In front of the first page."""
    context = browser.new_context(base_url=shown[0])
    page = context.new_page()

    def first():
        page.goto("/")
        return page.main_frame

    yield Person(first, tmp_path)
    context.close()


@pytest.fixture
def chain(shown):
    """With its order, by the code that the platform gave it."""
    (order,) = csv.DictReader(io.StringIO(httpx.get(f"{shown[0]}/orders.csv").text.removeprefix("\ufeff")))
    return replace(CHAIN, order=Order(order["order_code"], (("a1", "9.00"),), order["order_total"]))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_a_stranger_gets_it_done_by_what_is_visible(person, chain, scenario):
    scenario(person, chain)
    person.reads_no_code()
