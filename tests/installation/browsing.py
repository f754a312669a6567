"""A real browser in which the administrator has logged in to Airflow."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from installation.installed import Installation

WAIT_MS = 90_000
"""A machine with much else to do."""
_PLAYWRIGHTS_OWN_MS = 5_000


@contextmanager
def logged_in(installation: Installation, browser: Browser, **options: Any) -> Iterator[Page]:
    """`options`: of the browser's context."""
    context = browser.new_context(
        base_url=installation.airflow_url, viewport={"width": 1400, "height": 1200}, **options
    )
    context.set_default_timeout(WAIT_MS)
    expect.set_options(timeout=WAIT_MS)
    page = context.new_page()
    page.goto("/auth/login")
    page.locator("input[name=username]").fill(installation.user)
    page.locator("input[name=password]").fill(installation.password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_test_id("nav-home-link")).to_be_visible()
    yield page
    context.close()
    expect.set_options(timeout=_PLAYWRIGHTS_OWN_MS)
