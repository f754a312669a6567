"""What an address asks of a list: filters, order and place; and the addresses that a list leads to."""

from __future__ import annotations

import pytest
from fastapi import HTTPException
from starlette.requests import Request

from shelfsync.pages.lists import TEXT_MAX, Asked, asked_of, chips
from shelfsync.store.keyset_list import KeysetList, Order

LISTED = KeysetList("x", ("a",), {"vendor": "vendor = :vendor", "sku": "sku = :sku"}, {"a": Order((("a", "text"),))})


def asked(query):
    return asked_of(Request({"type": "http", "query_string": query.encode(), "headers": []}), LISTED)


def test_only_filters_of_the_list_count_and_none_is_empty():
    assert asked("vendor=s%201&sku=&other=x&order=a&after=1&after=2") == Asked({"vendor": "s 1"}, "a", ["1", "2"])
    assert asked("vendor=s%201&order=a").query == "vendor=s+1&order=a"


@pytest.mark.parametrize(
    "query", [f"vendor={'x' * (TEXT_MAX + 1)}", "&".join(["after=1"] * 5), f"order={'x' * (TEXT_MAX + 1)}"]
)
def test_an_address_longer_than_any_identifier_is_refused(query):
    with pytest.raises(HTTPException) as refused:
        asked(query)
    assert refused.value.status_code == 400


def test_a_group_leads_to_its_rows_with_the_other_filters_and_from_the_first_page_on():
    rows = [{"sku": "b", "rows": 7}, {"sku": "c", "rows": 1}]
    [one, other] = chips(rows, "sku", asked("vendor=v&sku=c&order=a&after=9"), {"b": "bread"})
    assert (one.text, one.number, one.query, one.chosen) == ("bread", 7, "vendor=v&sku=b&order=a", False)
    assert (other.text, other.chosen) == ("c", True)
    assert asked("vendor=v&sku=c").with_(sku="") == "vendor=v"
