"""Every page can be used with a keyboard and a screen reader: axe-core finds nothing serious, light and dark, wide and on a phone."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from browser_fixture import browser, chromium
from shown_chain import shown

__all__ = ["browser", "chromium", "shown"]
pytestmark = [pytest.mark.browser, pytest.mark.slow]

FOCUS = """() => {
    const one = document.activeElement, style = getComputedStyle(one);
    return one === document.body ? null : [one.tagName, one.tagName === "INPUT" ? `${one.type} ${one.name}` : one.textContent.trim(), style.outlineStyle, parseFloat(style.outlineWidth)];
}"""
REACHABLE = """controls => controls.filter(
    one => one.type !== "hidden" && one.checkVisibility() && (one.type !== "radio" || one.checked)).length"""
"""Of radio buttons the chosen one takes the focus, and arrows lead to the others."""

NEWEST = ("Read again", "as it was (UTC)", "Send again", "Write to the account manager", "The letter, to copy")
"""Of what some pages have; the addresses must reach it."""


def test_axe_finds_nothing_serious_on_any_page(shown, browser):
    address, paths = shown
    axe, found, seen = Axe(), {}, set()
    for scheme, width in (("light", 1280), ("dark", 390)):
        # axe is evaluated in the page, which the pages' own policy forbids
        context = browser.new_context(
            color_scheme=scheme, base_url=address, viewport={"width": width, "height": 800}, bypass_csp=True
        )
        page = context.new_page()
        for path in paths:
            assert page.goto(path).status < 500, path
            seen.update(text for text in NEWEST if page.get_by_text(text).count())
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            for violation in axe.run(page).response["violations"]:
                if violation["impact"] in {"serious", "critical", "moderate"}:
                    found.setdefault(f"{violation['id']}: {violation['nodes'][0]['html']}", []).append(
                        (path, scheme, width)
                    )
        context.close()
    assert found == {}
    assert seen == {*NEWEST}


def test_every_control_is_reached_by_the_tab_key_and_its_focus_is_seen(shown, browser):
    address, paths = shown
    context = browser.new_context(base_url=address)
    page = context.new_page()
    for path in paths:
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
