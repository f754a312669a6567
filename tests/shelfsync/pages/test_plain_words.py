"""No page of a chain in operation says a word of the program: a setting, an option, a table, a name of the code."""

from __future__ import annotations

import re
from html import unescape

import httpx
import pytest

from alert_look import of_program
from shown_chain import shown

__all__ = ["shown"]
pytestmark = pytest.mark.slow


def _texts(html):
    """What a person reads: the texts between tags."""
    main = html.partition("<main")[2]
    return [unescape(text).strip() for text in re.sub(r"<[^>]*>", "\n", main).split("\n") if text.strip()]


def test_no_page_says_a_word_of_the_program(shown):
    address, paths = shown
    found = {}
    for path in paths:
        for text in _texts(httpx.get(f"{address}{path}").text):
            if of_program(text):
                found.setdefault(text, path)
    assert not found, found
