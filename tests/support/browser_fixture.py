"""A real Chromium, headless and with an empty profile."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

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


def _installed() -> str | None:
    return next((path for path in map(shutil.which, NAMES) if path), None)
