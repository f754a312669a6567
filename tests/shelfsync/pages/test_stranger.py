"""A stranger asks, and the pages answer by what is visible: which stores are wrong, why, since when, who decided. Two clicks at most."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from browser_fixture import browser, chromium
from shown_chain import shown

__all__ = ["browser", "chromium", "shown"]
pytestmark = [pytest.mark.browser, pytest.mark.slow]
INSTANT = re.compile(r"since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")


@pytest.fixture
def first(shown, browser):
    """The first page."""
    context = browser.new_context(base_url=shown[0])
    page = context.new_page()
    page.goto("/")
    yield page
    context.close()


def test_which_stores_are_wrong_stands_on_the_first_page(first):
    for store, state in (("store-001", "held"), ("store-002", "paused")):
        expect(first.get_by_role("listitem").filter(has=first.get_by_role("link", name=store))).to_contain_text(state)


def test_who_paused_a_store_since_when_and_why_stands_on_the_first_page(first):
    banner = first.get_by_role("alert").filter(has_text="PAUSED").first
    expect(banner).to_contain_text("store-002 is paused by ada")
    expect(banner).to_contain_text(INSTANT)
    expect(banner).to_contain_text("stocktaking")


def test_why_a_store_is_held_and_since_when_is_two_clicks_away(first):
    first.get_by_role("link", name="store-001").first.click()
    first.get_by_role("link", name="held rows").first.click()
    expect(first.get_by_role("main")).to_contain_text("4 of 5 SKUs have a price as if its decimal point had slipped")
    expect(first.get_by_role("main")).to_contain_text(INSTANT)
    expect(first.get_by_role("main")).to_contain_text("1.00")


def test_who_decided_a_hold_and_why_is_two_clicks_away(first):
    first.goto("/holds/1")
    decline = first.locator("form").filter(has=first.get_by_role("button", name="Decline: keep them held"))
    decline.get_by_label("reason").fill("the price list was wrong")
    decline.get_by_role("button").click()
    first.goto("/")
    first.get_by_role("link", name="store-001").first.click()
    first.get_by_role("link", name="held rows").first.click()
    expect(first.get_by_role("main")).to_contain_text("declined by ada")
    expect(first.get_by_role("main")).to_contain_text("the price list was wrong")


def test_why_a_product_is_rejected_and_what_to_do_is_one_click_away(first):
    tile = first.get_by_role("listitem").filter(has=first.get_by_role("link", name="store-001"))
    tile.get_by_text("rejected", exact=True).locator("xpath=following-sibling::dd").get_by_role("link").click()
    expect(first.get_by_role("table").first).to_contain_text("Have the product created on the platform")
    expect(first.get_by_role("main")).to_contain_text("unknown")
