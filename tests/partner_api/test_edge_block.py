"""A page where JSON belongs, or a 403 that is not the platform's JSON, comes from the edge in front of it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from partner_api.edge_block import is_block, is_page

PAGE = b"<!DOCTYPE html><title>Denied</title>"
JSON = b'{"code": "FORBIDDEN", "message": "no"}'


def answer(status, body, content_type="", *, cut=False):
    return SimpleNamespace(status=status, body=body, content_type=content_type, cut=cut)


@pytest.mark.parametrize(
    ("status", "body", "content_type", "blocked"),
    [
        (403, JSON, "application/json", False),
        (403, PAGE, "text/html", True),
        (403, b"", "", True),
        (403, b"not json", "text/plain", True),
        (429, JSON, "application/json", False),
        (429, PAGE, "text/html", True),
        (401, PAGE, "text/html", False),
    ],
)
def test_a_403_as_json_is_the_platforms_and_any_other_is_the_edges(status, body, content_type, blocked):
    assert is_block(answer(status, body, content_type)) is blocked


def test_of_a_body_that_is_cut_the_head_decides():
    assert not is_block(answer(403, b'{"co', "application/json", cut=True))
    assert is_block(answer(403, b"<ht", "text/html", cut=True))


def test_a_page_shows_by_its_type_or_by_its_beginning():
    assert is_page(answer(200, b"\xef\xbb\xbf\n<html>"))
    assert is_page(answer(200, b"{}", "text/html"))
    assert not is_page(answer(200, JSON, "application/json"))
