"""A real Chromium in front of the sandbox's portal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from browser_fixture import browser, chromium
from sandbox_fixture import LiveSandbox, WebhookReceiver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

__all__ = ["browser", "chromium"]


@pytest.fixture(scope="module")
def running_platform() -> Iterator[LiveSandbox]:
    with LiveSandbox(clock="virtual", promotion_propagation_s=0, requests_per_minute=60) as live:
        yield live


@pytest.fixture
def platform(running_platform: LiveSandbox) -> LiveSandbox:
    """In its initial state, on a clock that does not advance."""
    running_platform.reset()
    return running_platform


@pytest.fixture
def receiver(platform: LiveSandbox) -> Iterator[WebhookReceiver]:
    with WebhookReceiver() as receiver:
        yield receiver
        platform.advance(0)


@pytest.fixture
def page(browser: Browser, platform: LiveSandbox) -> Iterator[Page]:
    """A page of a browser without JavaScript, which the portal does not need; nothing may fail or leave the sandbox."""
    context = browser.new_context(java_script_enabled=False, base_url=platform.base_url)
    yield from _watched(context, platform)


@pytest.fixture
def scripted_page(browser: Browser, platform: LiveSandbox) -> Iterator[Page]:
    """The same with JavaScript, for what must not run."""
    context = browser.new_context(base_url=platform.base_url)
    yield from _watched(context, platform)


def _watched(context: Any, platform: LiveSandbox) -> Iterator[Page]:
    page = context.new_page()
    page.set_default_timeout(10_000)
    astray: list[str] = []
    page.on("request", lambda request: astray.append(request.url))
    page.on("dialog", lambda dialog: (astray.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("pageerror", lambda error: astray.append(f"error {error}"))
    yield page
    context.close()
    assert [url for url in astray if not url.startswith((platform.base_url, "data:"))] == []
