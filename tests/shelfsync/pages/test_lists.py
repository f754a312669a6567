"""What an address asks of a list: filters, order and place; and the addresses that a list leads to."""

from __future__ import annotations

import re

import pytest
from fastapi import HTTPException
from starlette.requests import Request

from csv_answer import rows_of
from shelfsync.pages.lists import CATEGORIES, TEXT_MAX, Asked, asked_of, category_field, chips
from shelfsync.store.keyset_list import KeysetList, Order
from small_erp import SQL

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


def test_a_category_is_chosen_from_those_of_the_store_and_else_written():
    assert category_field([], "").options is None
    assert category_field([], "dairy").options is None
    assert category_field(["bread", "dairy"], "dairy").options == {"bread": "bread", "dairy": "dairy"}
    assert category_field(["bread"], "dairy").options == {"bread": "bread", "dairy": "dairy"}
    assert len(category_field([str(number) for number in range(CATEGORIES + 9)], "").options) == CATEGORIES


NAMED = SQL.replace(" FROM", ", CASE WHEN sku IN ('a', 'x', 'bad') THEN 'dairy' ELSE 'bread' END AS category FROM")


@pytest.mark.slow
def test_products_rejections_and_the_rows_of_a_hold_are_filtered_by_the_category_of_the_erp(make_world, browse):
    """`a` and `b` are held, `x` and `y` rejected, each of two categories, and `bad` was never sound enough to have one."""
    world = make_world(erp={"sql": NAMED})
    rows = [{"sku": sku, "barcodes": [], "title": sku, "price": 9.0, "active": True} for sku in "ab"]
    world.platform.put_products("store-001", rows)
    for sku in "abxy":
        world.erp.put("store-001", sku, "2.00")
        world.erp.put("store-002", sku, "2.00")
    world.erp.put("store-001", "bad", "no price")
    world.sync("full")
    for sku in "ab":
        world.erp.put("store-001", sku, "20.00")
    world.sync("delta")
    pages = browse(world.app)

    shown = pages.get("/products?vendor=store-001").text
    assert re.findall(r'<option value="(bread|dairy)"', shown) == ["bread", "dairy"]
    found = rows_of(pages.get("/products.csv?category=dairy"))
    assert {(row["vendor"], row["sku"]) for row in found} == {
        ("store-001", "a"),
        ("store-001", "x"),
        ("store-002", "a"),
        ("store-002", "x"),
    }
    assert skus_on(pages.get("/products?category=bread&vendor=store-001&state=held")) == ["b"]
    assert "There is no such product." in pages.get("/products?category=toys").text

    shown = pages.get("/rejections?vendor=store-001&category=dairy")
    assert '<option value="dairy" selected>' in shown.text
    assert skus_on(shown) == ["x"]
    assert re.search(r'<td class="n">1<td class="n">1<td class="n">20.00<td class="id">20', shown.text), (
        "one row of one store, at stake"
    )
    assert [row["sku"] for row in rows_of(pages.get("/rejections.csv?vendor=store-001&category=bread"))] == ["y"]
    assert rows_of(pages.get("/rejections.csv?vendor=store-001&category=toys")) == []
    assert pages.get("/rejections?category=dairy").status_code == 400

    assert skus_on(pages.get("/holds/1")) == ["a", "b"]
    shown = pages.get("/holds/1?category=bread&order=value")
    assert skus_on(shown) == ["b"]
    assert "category=bread" in re.search(r'href="[^"]*order=SKU[^"]*"', shown.text)[0]


def skus_on(answer):
    """The SKUs of the rows of a page."""
    assert answer.status_code == 200
    return re.findall(r"/explain\?vendor=[\w-]+&amp;sku=(\w+)\"", answer.text)
