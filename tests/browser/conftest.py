"""A real Chromium, headless and with an empty profile, in front of the sandbox's portal."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import sync_playwright

from sandbox_fixture import LiveSandbox, WebhookReceiver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
INSTALL_S = 600


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's program: the one that is there, or Debian's, which root can install."""
    found = _installed()
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["apt-get", "update"], ["apt-get", "install", "-y", "chromium"]):
            subprocess.run(command, check=False, timeout=INSTALL_S, capture_output=True, env=environment)
        found = _installed()
    if found is None:
        pytest.skip("Chromium is not installed, and only root can install it (apt-get install chromium)")
    return found


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """One for each module: while it is open its event loop is the thread's, which other tests need for themselves."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def running_platform() -> Iterator[LiveSandbox]:
    with LiveSandbox(clock="virtual", promotion_propagation_s=0, requests_per_minute=60) as live:
        yield live


@pytest.fixture
def platform(running_platform: LiveSandbox) -> LiveSandbox:
    """As new, on a clock that stands still."""
    running_platform.control("POST", "reset")
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


def _installed() -> str | None:
    return next((path for path in map(shutil.which, NAMES) if path), None)
