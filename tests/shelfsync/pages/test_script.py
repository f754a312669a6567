"""The script of the pages in a real browser, under the pages' own policy; and the pages without it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import uvicorn
from fastapi import Request  # noqa: TC002  FastAPI reads annotations at run time
from playwright.sync_api import expect

from browser_fixture import browser, chromium
from serving import serving
from shelfsync.pages.app import create_app
from shelfsync.pages.rights import Viewer
from shelfsync.pages.runs import AGAIN_S

__all__ = ["browser", "chromium"]
pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAUSE_MS = 200
"""Of a person who types, before the field asks."""
READS = f"This page reads it again every {AGAIN_S} seconds."


def guard(request: Request) -> None:
    """The viewer may look, and no more."""
    request.state.viewer = Viewer("ada", may_decide=False)


@pytest.fixture
def served(world):
    with serving(uvicorn.Config(create_app(lambda: world.app.context, guard), log_level="warning")) as address:
        yield address


@pytest.fixture
def page(browser, served):
    """A page whose clock stands still until a test moves it."""
    context = browser.new_context(base_url=served)
    made = context.new_page()
    made.clock.install()
    yield made
    context.close()


def change(world, statement):
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(statement)


def test_the_page_of_a_run_at_work_reads_it_again_until_it_ends(world, page):
    number = world.app.open_run("delta", "test/at-work", ())
    page.goto(f"/runs/{number}")
    expect(page.get_by_text(READS)).to_be_visible()
    state = page.locator("[aria-live=polite]")
    expect(state).to_contain_text("It is at work.")

    change(world, "UPDATE ledger.run SET error = 'one store is away'")
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(AGAIN_S * 2_000)
    expect(page.get_by_text("one store is away")).to_have_count(0)
    page.get_by_role("button", name="Go on").click()
    page.clock.run_for(AGAIN_S * 1_000)
    expect(page.get_by_text("one store is away")).to_be_visible()

    change(world, "UPDATE ledger.run SET state = 'failed', finished_at = now(), error = 'all stores are away'")
    page.clock.run_for(AGAIN_S * 1_000)
    expect(state).to_contain_text("A delta run: failed")
    expect(page.get_by_text("all stores are away")).to_be_visible()
    expect(page.get_by_text(READS)).to_have_count(0)


def test_without_the_script_the_page_of_a_run_at_work_has_a_link_to_itself(world, browser, served):
    number = world.app.open_run("delta", "test/at-work", ())
    context = browser.new_context(base_url=served, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"/runs/{number}")
    expect(page.get_by_text(READS)).to_be_hidden()
    change(world, "UPDATE ledger.run SET error = 'one store is away'")
    page.get_by_role("link", name="Read again").click()
    expect(page.get_by_text("one store is away")).to_be_visible()
    context.close()


MARKUP = "<img src=x>"
NAMED = f"SELECT vendor, sku, price, quantity, active, '{MARKUP} ' || sku AS name FROM stock"


def test_a_field_suggests_products_while_a_person_types(make_world, browser):
    """What the ERP calls a product is a text, whatever it holds."""
    world = make_world(erp={"sql": NAMED})
    for store, sku in (("store-001", "a1"), ("store-002", "a2")):
        world.erp.put(store, sku, "1.00")
    with ThreadPoolExecutor(1) as beside:  # the event loop of this thread is the browser's
        beside.submit(world.sync, "full").result()
    with serving(uvicorn.Config(create_app(lambda: world.app.context, guard), log_level="warning")) as address:
        page = browser.new_page(base_url=address)
        page.clock.install()
        page.goto("/search")
        offered = page.locator("#products option")
        for store, skus in (("", ["a1", "a2"]), ("store-002", ["a2"])):
            page.get_by_label("store").fill(store)
            page.get_by_label("code, barcode or name").fill("img")
            page.clock.run_for(PAUSE_MS)
            expect(offered).to_have_count(len(skus))
            assert [one.get_attribute("value") for one in offered.all()] == skus
            assert [one.text_content() for one in offered.all()] == [f"{MARKUP} {sku}" for sku in skus]
        assert page.locator("img").count() == 0
        page.close()
