"""What a person sees in a real browser, light and dark: an alarm is red everywhere, and readable."""

from __future__ import annotations

import re

import pytest
import uvicorn
from fastapi import Request  # noqa: TC002  FastAPI reads annotations at run time

from browser_fixture import browser, chromium
from serving import serving
from shelfsync.alerts.ledger import alerts
from shelfsync.pages.app import PAGES, create_app
from shelfsync.pages.rights import Viewer

__all__ = ["browser", "chromium"]
pytestmark = pytest.mark.browser

COLOURS = """block => {
    const style = getComputedStyle(block);
    return [style.color, style.borderLeftColor, style.backgroundColor, getComputedStyle(document.documentElement).colorScheme];
}"""
PAPER = {"light": (255, 255, 255), "dark": (18, 18, 18)}


def guard(request: Request) -> None:
    request.state.viewer = Viewer("ada", may_decide=True)


def _rgba(text):
    red, green, blue, *alpha = (float(part) for part in re.findall(r"[\d.]+", text))
    return (red, green, blue), (alpha[0] if alpha else 1.0)


def _is_red(text):
    (red, green, blue), _ = _rgba(text)
    return red > 1.4 * max(green, blue)


def _luminance(colour):
    parts = (part / 255 for part in colour)
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(text, background, paper):
    """As the accessibility guidelines reckon it; 4.5 and more can be read."""
    ink, _ = _rgba(text)
    over, alpha = _rgba(background)
    below = tuple(alpha * one + (1 - alpha) * other for one, other in zip(over, paper, strict=True))
    dark, light = sorted((_luminance(ink), _luminance(below)))
    return (light + 0.05) / (dark + 0.05)


@pytest.fixture
def troubled(world):
    """A context with an alarm of each place: sending is paused, an order reaches no store."""
    world.erp.put("store-001", "a", "1.00")
    world.app.pause("all", None, why="wrong prices", who="ada")
    world.sync("full")
    with world.app.context.engine.begin() as connection:
        alerts.keep(connection, ("not_taken",), {("not_taken", "store-001"): "3 orders reach no store"})
    return world.app.context


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_alarm_is_red_on_every_page(troubled, browser, scheme):
    app = create_app(lambda: troubled, guard)
    with serving(uvicorn.Config(app, log_level="warning")) as address:
        context = browser.new_context(color_scheme=scheme, base_url=address)
        page = context.new_page()
        for path, alarms in (
            ("/", 2), ("/holds", 2), ("/switches", 2), ("/explain", 2), ("/promotions", 2), ("/orders", 3),
            ("/explain?vendor=store-001&sku=a&at=never", 3),
        ):  # fmt: skip
            page.goto(path)
            blocks = page.get_by_role("alert").all()
            assert len(blocks) == alarms, (path, [block.inner_text() for block in blocks])
            for block in blocks:
                colour, line, background, known = block.evaluate(COLOURS)
                assert known == "light dark"
                assert _is_red(colour), (path, colour)
                assert _is_red(line), (path, line)
                assert _is_red(background), (path, background)
                assert _contrast(colour, background, PAPER[scheme]) >= 4.5, (path, colour, background)
        page.goto("/orders")
        assert "3 orders reach no store" in page.get_by_role("alert").last.inner_text()
        context.close()


EDGES = """controls => controls.filter(one => one.type != "hidden" && one.checkVisibility()).map(one => {
    const behind = one.parentElement.closest("main > form:not(.inline), .tile, table") || document.body;
    return [one.outerHTML, getComputedStyle(one).borderTopColor, getComputedStyle(behind).backgroundColor];
})"""


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_edge_of_every_control_is_seen(troubled, browser, scheme):
    """The guidelines ask a contrast of 3 between the edge and what is behind it."""
    app = create_app(lambda: troubled, guard)
    seen = 0
    with serving(uvicorn.Config(app, log_level="warning")) as address:
        context = browser.new_context(color_scheme=scheme, base_url=address)
        page = context.new_page()
        for path in (*(one.path for one in PAGES), "/store?vendor=store-001"):
            page.goto(path)
            for control, edge, behind in page.locator("input, select, button").evaluate_all(EDGES):
                seen += 1
                assert _contrast(edge, behind, PAPER[scheme]) >= 3, (path, control, edge, behind)
        context.close()
    assert seen > len(PAGES)


@pytest.mark.slow
def test_no_page_scrolls_sideways_on_a_phone(troubled, browser):
    app = create_app(lambda: troubled, guard)
    with serving(uvicorn.Config(app, log_level="warning")) as address:
        context = browser.new_context(base_url=address, viewport={"width": 390, "height": 800})
        page = context.new_page()
        for path in (*(one.path for one in PAGES), "/explain?vendor=store-001&sku=a"):
            page.goto(path)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
            assert page.locator("header").bounding_box()["height"] <= 60, path
        context.close()


@pytest.mark.slow
def test_the_navigation_takes_one_line_of_a_laptop(troubled, browser):
    with serving(uvicorn.Config(create_app(lambda: troubled, guard), log_level="warning")) as served:
        context = browser.new_context(base_url=served, viewport={"width": 1280, "height": 800})
        page = context.new_page()
        page.goto("/")
        links = page.locator("header nav a").all()
        assert len(links) > 10
        assert len({round(link.bounding_box()["y"]) for link in links}) == 1
        context.close()


@pytest.mark.slow
def test_a_chosen_chip_is_seen_and_no_row_is_as_high_as_a_phone(troubled, browser):
    """A sentence in a table has its own width, whatever stands beside it."""
    with serving(uvicorn.Config(create_app(lambda: troubled, guard), log_level="warning")) as served:
        context = browser.new_context(base_url=served, viewport={"width": 360, "height": 800})
        page = context.new_page()
        page.goto("/products?state=right")
        chosen, other = (
            page.locator(f".chips a{which}").first.evaluate("one => getComputedStyle(one).fontWeight")
            for which in ("[aria-current]", ":not([aria-current])")
        )
        assert chosen != other
        for path in (*(one.path for one in PAGES), "/explain?vendor=store-001&sku=a"):
            page.goto(path)
            for row in page.locator("tbody tr").all():
                assert row.bounding_box()["height"] <= 300, (path, row.inner_text())
        context.close()
