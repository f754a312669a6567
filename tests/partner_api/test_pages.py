"""All pages are read once; a listing that contradicts itself is incomplete."""

from __future__ import annotations

import pytest

from listing_pages import Pages, product
from partner_api.dialect import Dialect


def test_a_listing_without_a_page_count_ends_at_an_empty_page(tools):
    def twist(page, answer):
        return {"products": answer["products"]}

    server = tools.platform(Pages(tools.http, 4, twist))
    listing = tools.client(server).whole_catalog("v", page_size=2)
    assert (listing.complete, len(listing.products), listing.pages) == (True, 4, 3)


@pytest.mark.parametrize(
    ("twist", "why"),
    [
        (lambda page, answer: {**answer, "page_number": 1}, "the client requested page 2 and 1 came"),
        (lambda page, answer: {**answer, "total_pages": answer["total_pages"] + page}, "pages at first"),
        (lambda page, answer: {**answer, "products": []} if page == 2 else answer, "page 2 of 3 was empty"),
        (
            lambda page, answer: {**answer, "products": [product(1), product(2)]},
            "page 2 held only what had come before",
        ),
        (lambda page, answer: {**answer, "products": [product(page), product(0)]}, "came twice"),
        (lambda page, answer: {"products": [product(7)]}, "page 2 held only what had come before"),
        (lambda page, answer: {**answer, "total_pages": 0}, "page 1 of 0 held something"),
        (lambda page, answer: {"products": [product(page)]}, "had not ended after 7 pages"),
        (
            lambda page, answer: {**answer, "total_pages": 10**9, "products": [product(page)]},
            "had not ended after 7 pages",
        ),
    ],
)
def test_a_contradictory_listing_ends_with_the_reason(tools, twist, why):
    server = tools.platform(Pages(tools.http, 6, twist))
    listing = tools.client(server, dialect=Dialect(pages_max=7)).whole_catalog("v", page_size=2)
    assert not listing.complete
    assert why in listing.why
    assert len({entry.sku for entry in listing.products}) == len(listing.products)


def test_an_empty_catalog_is_complete(tools):
    server = tools.platform(tools.http(200, {"page_number": 1, "total_pages": 0, "products": []}))
    assert tools.client(server).whole_catalog("v").complete
