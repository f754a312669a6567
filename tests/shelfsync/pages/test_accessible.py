"""Every page can be used with a keyboard and a screen reader: axe-core finds nothing serious, light and dark, wide and on a phone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from fastapi import Request  # noqa: TC002  FastAPI reads annotations at run time

from browser_fixture import browser, chromium
from serving import serving
from shelfsync.alerts.ledger import alerts
from shelfsync.pages.app import PAGES, create_app
from shelfsync.pages.shell import Viewer

__all__ = ["browser", "chromium"]
pytestmark = [pytest.mark.browser, pytest.mark.slow]

PATHS = (
    *(page.path for page in PAGES),
    "/store?vendor=store-001",
    "/explain?vendor=store-001&sku=a1",
    "/rejections?reason=product+not+found",
    "/search?q=a",
    "/holds/1",
    "/runs/1",
    "/alerts/1",
    "/alerts/999",
)
FOCUS = """() => {
    const one = document.activeElement, style = getComputedStyle(one);
    return one === document.body ? null : [one.tagName, one.tagName === "INPUT" ? `${one.type} ${one.name}` : one.textContent.trim(), style.outlineStyle, parseFloat(style.outlineWidth)];
}"""
REACHABLE = """controls => controls.filter(
    one => one.type !== "hidden" && one.checkVisibility() && (one.type !== "radio" || one.checked)).length"""
"""Of radio buttons the chosen one takes the focus, and arrows lead to the others."""


def guard(request: Request) -> None:
    request.state.viewer = Viewer("ada", may_decide=True, may_stop=True)


def product(sku: str) -> dict[str, object]:
    return {"sku": sku, "barcodes": [], "title": sku, "price": 9.0, "active": True}


def _fill(world):
    for store in ("store-001", "store-002"):
        world.platform.put_products(store, [product(f"a{number}") for number in range(5)])
        for number in range(5):
            world.erp.put(store, f"a{number}", "1.00")
    world.erp.put("store-001", "unknown", "1.00")
    world.erp.put("store-002", "bad", "no price")
    world.sync("full")
    for number in range(4):
        world.erp.put("store-001", f"a{number}", "900.00")
    world.sync("delta")
    world.platform.put_products("store-002", [product("a1") | {"price": 7.0}])
    world.app.export("test/1", (), progress=lambda *_: None)
    world.app.pause("vendor", "store-002", why="stocktaking", who="ada")
    waits = {("hold_waits", "catalog x"): "4 changes wait; `shelfsync holds list`"}
    for found in ({("store_late", "store-002"): "late"}, waits):
        with world.app.context.engine.begin() as connection:
            alerts.keep(connection, ("store_late", "hold_waits"), found)


@pytest.fixture
def address(make_world):
    """A chain with something on each page: a hold, rejections, quarantine, differences, a paused store, alerts open and over."""
    world = make_world(drift={"propagation_s": 0})
    with ThreadPoolExecutor(1) as beside:  # the event loop of this thread is the browser's
        beside.submit(_fill, world).result()
    with serving(uvicorn.Config(create_app(lambda: world.app.context, guard), log_level="warning")) as served:
        yield served


def test_axe_finds_nothing_serious_on_any_page(address, browser):
    axe, found = Axe(), {}
    for scheme, width in (("light", 1280), ("dark", 390), ("dark", 1280)):
        # axe is evaluated in the page, which the pages' own policy forbids
        context = browser.new_context(
            color_scheme=scheme, base_url=address, viewport={"width": width, "height": 800}, bypass_csp=True
        )
        page = context.new_page()
        for path in PATHS:
            assert page.goto(path).status < 500, path
            for violation in axe.run(page).response["violations"]:
                if violation["impact"] in {"serious", "critical", "moderate"}:
                    found.setdefault(f"{violation['id']}: {violation['nodes'][0]['html']}", []).append(
                        (path, scheme, width)
                    )
        context.close()
    assert found == {}


def test_every_control_is_reached_by_the_tab_key_and_its_focus_is_seen(address, browser):
    context = browser.new_context(base_url=address)
    page = context.new_page()
    for path in PATHS:
        page.goto(path)
        controls = page.locator("a[href], button, input, select, summary").evaluate_all(REACHABLE)
        page.keyboard.press("Tab")
        assert page.evaluate(FOCUS)[:2] == ["A", "Skip to the content"], path
        reached = 0
        while (focus := page.evaluate(FOCUS)) is not None and reached < 2 * controls:
            _, _, style, width = focus
            assert (style != "none", width >= 2) == (True, True), (path, focus)
            reached += 1
            page.keyboard.press("Tab")
        assert reached >= controls, (path, reached, controls)
    page.goto("/holds")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")
    context.close()
