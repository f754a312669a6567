"""`make bench-pages` calls every page, and its chain fits the tables as they are."""

from __future__ import annotations

import re

import pytest

from benchmarks import pages
from shelfsync.pages.app import create_app

UNMEASURED = {"/pages.css", "/pages.js", "/alerts/{}", "/holds/{}", "/promotions/{}", "/orders/{}"}
"""Style and script, and what the generated chain has none of."""


def test_every_page_is_called():
    routes = [route for route in create_app(lambda: None, lambda: None).routes if "GET" in route.methods]
    known = {re.sub(r"{\w+}", "{}", route.path) for route in routes}
    called = {re.sub(r"/\d+", "/{}", path.partition("?")[0]) for path in pages.PAGES}
    assert {path for path in known if not path.endswith((".csv", ".xlsx"))} - UNMEASURED == called


@pytest.mark.slow
def test_a_small_chain_of_its_own_is_measured_whatever_the_shell_names(monkeypatch, capsys):
    """The rows are made up: in a database or lake that the shell names they would stand beside real ones."""
    monkeypatch.setenv("SHELFSYNC_DATABASE_URL", "postgresql://127.0.0.1:1/real")
    monkeypatch.setenv("SHELFSYNC_LAKE_URL", "/nonexistent/real")
    monkeypatch.setattr("sys.argv", ["pages", "--rows", str(pages.PRODUCTS), "--calls", "1"])
    pages.main()
    shown = capsys.readouterr().out
    assert all(f"\n{path} " in shown for path in pages.PAGES)
    assert "Execution Time" in shown
