"""`make bench-pages` calls every page, and its chain fits the tables as they are."""

from __future__ import annotations

import re

import pytest

from benchmarks import pages
from shelfsync.app import open_app
from shelfsync.pages.app import create_app
from shelfsync.settings import Settings

UNMEASURED = {"/pages.css", "/alerts/{}", "/holds/{}", "/promotions/{}", "/orders/{}"}
"""The style, and what the generated chain has none of."""


def test_every_page_is_called():
    routes = [route for route in create_app(lambda: None, lambda: None).routes if "GET" in route.methods]
    known = {re.sub(r"{\w+}", "{}", route.path) for route in routes}
    called = {re.sub(r"/\d+", "/{}", path.partition("?")[0]) for path in pages.PAGES}
    assert {path for path in known if not path.endswith((".csv", ".xlsx"))} - UNMEASURED == called


@pytest.mark.slow
def test_a_small_chain_is_measured(tmp_path, capsys):
    with open_app(Settings(home=tmp_path)) as context:
        pages.fill(context, pages.PRODUCTS)
        pages.measure(context, 1)
    shown = capsys.readouterr().out
    assert all(f"\n{path} " in shown for path in pages.PAGES)
    assert "Execution Time" in shown
