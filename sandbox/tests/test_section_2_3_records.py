"""interface.md 2.3, 4.2 and 4.3: catalog and category records, the listing and its parameters."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

STORE = "store-001"
CATALOG = f"/v2/chains/demo-chain/vendors/{STORE}/catalog"
CATEGORIES = f"/v2/chains/demo-chain/vendors/{STORE}/categories"
DAIRY = {"global_id": "c-dairy", "name": {"en_GB": "Dairy"}, "parent_global_id": "c-food"}
FOOD = {"global_id": "c-food", "name": {"en_GB": "Food"}}


@pytest.fixture
def assortment(platform):
    """Seven products, three of them inactive, two in Dairy."""
    products: list[dict[str, Any]] = [
        {"sku": f"S{n}", "title": f"Thing {n}", "price": n, "active": n < 4} for n in range(6)
    ]
    milk = {
        "sku": "MILK",
        "title": "Whole milk 100%",
        "price": 1.5,
        "barcodes": ["96385074", "4006381333931"],
        "translations": {"en_GB": "Whole milk", "de_DE": "Vollmilch"},
        "images": ["https://images.example/milk.png"],
        "categories": [DAIRY, FOOD],
        "is_sold_by_weight": False,
        "active": False,
    }
    products[0]["categories"] = ["c-dairy"]
    platform.put_products(STORE, [*products, milk])


def listed(partner, **parameters: Any) -> dict[str, Any]:
    answer = partner.get(CATALOG, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def skus(partner, **parameters: Any) -> list[str]:
    return [product["sku"] for product in listed(partner, **parameters)["products"]]


def test_a_catalog_entry_has_title_images_status_price_category_sku_and_translations(partner, assortment):
    (entry,) = listed(partner, query_term="MILK")["products"]
    assert uuid.UUID(entry.pop("remote_product_id"))
    assert entry == {
        "sku": "MILK",
        "barcodes": ["00000096385074", "04006381333931"],
        "title": "Whole milk 100%",
        "translations": {"en_GB": "Whole milk", "de_DE": "Vollmilch"},
        "images": ["https://images.example/milk.png"],
        "price": "1.500",
        "categories": [
            {"global_id": "c-dairy", "details": {"name": {"en_GB": "Dairy"}, "description": {}}, "active": True},
            {"global_id": "c-food", "details": {"name": {"en_GB": "Food"}, "description": {}}, "active": True},
        ],
        "active": False,
        "is_sold_by_weight": False,
    }


def test_neither_quantity_nor_sales_limit_is_in_the_listing(platform, partner, push):
    platform.put_products(STORE, [{"sku": "A", "price": 1, "max_sales_quantity": 4}])
    push({"sku": "A", "quantity": 4})
    (entry,) = listed(partner)["products"]
    assert not {name for name in entry if "quantity" in name or "limit" in name}


def test_a_product_may_have_no_barcode_and_no_price(platform, partner):
    platform.put_products(STORE, [{"sku": "A"}])
    (entry,) = listed(partner)["products"]
    assert (entry["barcodes"], entry["price"]) == ([], None)


@pytest.mark.parametrize(
    ("term", "found"),
    [("milk", ["MILK"]), ("S3", ["S3"]), ("thing 4", ["S4"]), ("%", ["MILK"]), ("_", []), ("no such", [])],
)
def test_query_term_searches_by_name_or_sku(partner, assortment, term, found):
    assert skus(partner, query_term=term) == found


@pytest.mark.parametrize(
    ("wanted", "found"),
    [(["c-dairy"], ["MILK", "S0"]), (["c-food"], ["MILK"]), (["c-food", "c-dairy"], ["MILK", "S0"]), (["c-x"], [])],
)
def test_category_global_ids_filters_by_categories(partner, assortment, wanted, found):
    assert skus(partner, category_global_ids=wanted) == found
    assert skus(partner, category_global_ids=",".join(wanted)) == found


def test_locale_gives_the_title_and_the_translation_of_that_locale(partner, assortment):
    (entry,) = listed(partner, query_term="MILK", locale="de_DE")["products"]
    assert entry["title"] == "Vollmilch"
    assert entry["translations"] == {"de_DE": "Vollmilch"}


def test_a_locale_of_another_form_is_rejected(partner, assortment):
    answer = partner.get(CATALOG, params={"locale": "de-DE"})
    assert (answer.status_code, answer.json()["message"]) == (400, "locale: must have the form xx_YY")


def test_is_active_filters_and_without_it_all_products_come(partner, assortment):
    assert len(skus(partner)) == 7
    assert skus(partner, is_active="true") == ["S0", "S1", "S2", "S3"]
    assert skus(partner, is_active="false") == ["MILK", "S4", "S5"]


def test_pages_are_disjoint_complete_and_counted(partner, assortment):
    pages = [listed(partner, page=page, page_size=3) for page in (1, 2, 3)]
    assert [(page["page_number"], page["page_size"], page["total_pages"]) for page in pages] == [
        (1, 3, 3),
        (2, 3, 3),
        (3, 3, 3),
    ]
    assert [len(page["products"]) for page in pages] == [3, 3, 1]
    assert len({product["sku"] for page in pages for product in page["products"]}) == 7


def test_a_page_beyond_the_last_is_empty(partner, assortment):
    beyond = listed(partner, page=9, page_size=3)
    assert (beyond["products"], beyond["total_pages"]) == ([], 3)


def test_page_number_as_a_parameter_is_ignored(partner, assortment):
    assert listed(partner, page_number=2, page_size=3) == listed(partner, page=1, page_size=3)


@pytest.mark.parametrize(
    "parameters", [{"page": 0}, {"page": "x"}, {"page_size": 0}, {"page_size": 501}, {"is_active": "maybe"}]
)
def test_a_wrong_parameter_is_rejected_and_named(partner, assortment, parameters):
    answer = partner.get(CATALOG, params=parameters)
    assert answer.status_code == 400
    assert answer.json()["message"].startswith(f"{next(iter(parameters))}: ")


def test_a_page_size_beyond_the_largest_is_capped_if_the_dialect_caps_it(platform, partner, assortment):
    platform.control("PUT", "settings", {"listing_page_size_beyond": "cap", "listing_page_size_max": 5})
    assert listed(partner, page_size=6)["page_size"] == 5


def test_a_store_without_products_lists_nothing(partner):
    assert listed(partner) == {"page_number": 1, "page_size": 50, "total_pages": 0, "products": []}


def test_categories_are_those_of_the_vendor_and_only_leaves_unless_asked(partner, assortment):
    dairy = {
        "global_id": "c-dairy",
        "details": {"name": {"en_GB": "Dairy"}, "description": {}},
        "parent_global_id": "c-food",
        "active": True,
    }
    food = {**dairy, "global_id": "c-food", "details": {"name": {"en_GB": "Food"}, "description": {}}}
    assert partner.get(CATEGORIES).json() == {"categories": [dairy]}
    every = partner.get(CATEGORIES, params={"only_leaves": "false"}).json()
    assert every == {"categories": [dairy, {**food, "parent_global_id": None}]}
    other = CATEGORIES.replace(STORE, "store-002")
    assert partner.get(other).json() == {"categories": []}
