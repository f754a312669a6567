"""Our pages inside Airflow, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser_fixture import browser, chromium  # noqa: F401  fixtures
from installation.browsing import logged_in

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from installation.installed import Installation

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_pages_have_the_theme_that_a_person_chose_in_airflow(
    installation: Installation,
    browser: Browser,  # noqa: F811
    theme: str,
) -> None:
    # a scheme that playwright sets would go before the one that Airflow gives its frame
    with logged_in(installation, browser, color_scheme="null") as page:
        page.evaluate("theme => localStorage.setItem('theme', theme)", theme)
        page.goto("/plugin/shelfsync")
        page.frame_locator("iframe").get_by_role("heading", name="Overview").wait_for()
        [frame] = [one for one in page.frames if one != page.main_frame]
        assert frame.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") == (theme == "dark")
