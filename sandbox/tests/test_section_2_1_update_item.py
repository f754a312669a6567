"""interface.md 2.1: the catalog product update item."""

from __future__ import annotations

import json
from decimal import ROUND_DOWN, Decimal
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from partner_sandbox import money
from partner_sandbox.catalog.body import BodyError, reader_of
from partner_sandbox.settings import Behaviour

STORE = "store-001"


def read(item: Any, **choices: Any) -> tuple[Any, ...]:
    return reader_of(Behaviour(**choices)).read(0, item)


def test_a_product_is_named_by_its_sku(platform, push):
    platform.put_products(STORE, [{"sku": "A", "price": 1}])
    push({"sku": "A", "price": 2})
    assert platform.products(STORE)["A"]["price"] == 2


def test_a_product_is_named_by_its_barcode_as_well(platform, push):
    platform.put_products(STORE, [{"sku": "A", "price": 1, "barcodes": ["4006381333931"]}])
    push({"barcode": "4006381333931", "price": 2})
    assert platform.products(STORE)["A"]["price"] == 2


@pytest.mark.parametrize("sent", ["96385074", "00000096385074", "0096385074"])
def test_a_barcode_is_the_same_with_and_without_zeros_on_the_left(platform, push, sent):
    platform.put_products(STORE, [{"sku": "A", "price": 1, "barcodes": ["96385074"]}])
    push({"barcode": sent, "price": 2})
    assert platform.products(STORE)["A"]["price"] == 2


def test_a_barcode_of_two_products_names_neither(platform, push):
    products = [{"sku": sku, "price": 1, "barcodes": ["96385074"]} for sku in "AB"]
    platform.put_products(STORE, products)
    job = push({"barcode": "96385074", "price": 2})
    assert job["log"][1].startswith('"00000096385074","failed"')
    assert {product["price"] for product in platform.products(STORE).values()} == {1}


def test_the_sku_decides_when_both_keys_are_there(platform, push):
    platform.put_products(STORE, [{"sku": "A", "price": 1}, {"sku": "B", "price": 1, "barcodes": ["96385074"]}])
    push({"sku": "A", "barcode": "96385074", "price": 2})
    held = platform.products(STORE)
    assert (held["A"]["price"], held["B"]["price"]) == (2, 1)


def test_an_item_without_a_key_is_rejected(rejection):
    assert rejection({"products": [{"price": 1}]}) == "products[0]: sku or barcode is required"


def test_every_field_but_the_key_is_optional(platform, push):
    product = {"sku": "A", "price": 1.5, "active": True, "max_sales_quantity": 4}
    platform.put_products(STORE, [product])
    before = platform.products(STORE)["A"]
    job = push({"sku": "A"})
    assert job["log"][1] == '"A","success",""'
    assert platform.products(STORE)["A"] == before


@pytest.mark.parametrize(
    ("item", "changed"),
    [
        ({"price": 9}, {"price": 9}),
        ({"active": False}, {"active": False}),
        ({"maximum_sales_quantity": 9}, {"max_sales_quantity": 9}),
        ({"price": None, "active": None, "quantity": None, "barcode": None}, {}),
    ],
)
def test_an_item_changes_the_fields_it_carries_and_no_other(platform, push, item, changed):
    platform.put_products(STORE, [{"sku": "A", "price": 1.5, "active": True, "max_sales_quantity": 4}])
    before = platform.products(STORE)["A"]
    push({"sku": "A", **item})
    after = platform.products(STORE)["A"]
    assert after == {**before, **changed}


def test_the_quantity_is_not_stored(platform, push):
    platform.put_products(STORE, [{"sku": "A", "price": 1, "sales_buffer": 0}])
    before = platform.products(STORE)["A"]
    push({"sku": "A", "quantity": 17}, {"sku": "A", "quantity": 3})
    assert platform.products(STORE)["A"] == before


@pytest.mark.parametrize(("quantity", "active"), [(4, False), (5, True), (6, True), (0, False), (-3, False)])
@pytest.mark.parametrize("was", [True, False])
def test_a_quantity_below_the_buffer_deactivates_and_at_or_above_activates(platform, push, quantity, active, was):
    platform.put_products(STORE, [{"sku": "A", "price": 1, "sales_buffer": 5, "active": was}])
    push({"sku": "A", "quantity": quantity})
    assert platform.products(STORE)["A"]["active"] is active


def test_a_product_without_a_buffer_goes_by_the_vendors(platform, push):
    platform.control("PUT", f"chains/demo-chain/vendors/{STORE}", {"buffer": 3})
    platform.put_products(STORE, [{"sku": "A", "price": 1}, {"sku": "B", "price": 1}])
    push({"sku": "A", "quantity": 2}, {"sku": "B", "quantity": 3})
    held = platform.products(STORE)
    assert (held["A"]["active"], held["B"]["active"]) == (False, True)


@pytest.mark.parametrize(
    ("item", "active"),
    [
        ({"active": False, "quantity": 99}, False),
        ({"active": True, "quantity": 4}, False),
        ({"active": True, "quantity": 5}, True),
        ({"active": True}, True),
        ({"active": False}, False),
    ],
)
def test_an_explicit_false_wins_over_the_quantity_and_an_explicit_true_does_not(platform, push, item, active):
    platform.put_products(STORE, [{"sku": "A", "price": 1, "sales_buffer": 5, "active": not active}])
    push({"sku": "A", **item})
    assert platform.products(STORE)["A"]["active"] is active


def test_the_buffer_cannot_be_set_through_the_interface(platform, push):
    platform.put_products(STORE, [{"sku": "A", "price": 1, "sales_buffer": 5}])
    push({"sku": "A", "sales_buffer": 0, "quantity": 1})
    held = platform.products(STORE)["A"]
    assert (held["sales_buffer"], held["active"]) == (5, False)


@pytest.mark.parametrize(
    ("sent", "kept"), [("4.5555555", 4.555), ("1.005", 1.005), ("0.9999", 0.999), ("2", 2), ("1e-9", 0), ("1.5e1", 15)]
)
def test_a_price_is_cut_never_rounded(platform, partner, sent, kept):
    platform.put_products(STORE, [{"sku": "A", "price": 1}])
    body = '{"products": [{"sku": "A", "price": ' + sent + "}]}"
    assert partner.put(f"/v2/chains/demo-chain/vendors/{STORE}/catalog", content=body).status_code == 202
    platform.advance(0)
    assert platform.products(STORE)["A"]["price"] == kept


@given(st.decimals(min_value=0, max_value=10**11, allow_nan=False, allow_infinity=False))
def test_law_a_cut_price_is_at_most_the_price_and_less_than_a_thousandth_away(price):
    kept = Decimal(money.cut(price)) / 1000
    assert kept == price.quantize(Decimal("0.001"), ROUND_DOWN)
    assert 0 <= price - kept < Decimal("0.001")


@given(st.integers(min_value=-(10**14), max_value=10**14))
def test_law_a_price_in_text_and_in_json_reads_back_as_itself(price_milli):
    assert money.cut(Decimal(money.text(price_milli))) == price_milli
    assert money.cut(Decimal(json.dumps(money.number(price_milli)))) == price_milli


@pytest.mark.parametrize("price", ["-0.001", "-5", "1e15", "1e400"])
def test_an_invalid_price_is_rejected_for_its_item_alone(platform, partner, price):
    platform.put_products(STORE, [{"sku": "A", "price": 1}, {"sku": "B", "price": 1}])
    body = '{"products": [{"sku": "A", "price": ' + price + '}, {"sku": "B", "price": 2}]}'
    assert partner.put(f"/v2/chains/demo-chain/vendors/{STORE}/catalog", content=body).status_code == 202
    platform.advance(0)
    held = platform.products(STORE)
    assert (held["A"]["price"], held["B"]["price"]) == (1, 2)


def test_a_sales_limit_below_one_is_rejected_for_its_item_alone(platform, push):
    platform.put_products(STORE, [{"sku": "A", "price": 1, "max_sales_quantity": 3}, {"sku": "B", "price": 1}])
    job = push({"sku": "A", "maximum_sales_quantity": 0}, {"sku": "B", "maximum_sales_quantity": 2})
    held = platform.products(STORE)
    assert job["log"][1].startswith('"A","failed"')
    assert (held["A"]["max_sales_quantity"], held["B"]["max_sales_quantity"]) == (3, 2)


@pytest.mark.parametrize(
    ("wire", "maximum", "short"),
    [("both", 7, 7), ("maximum_sales_quantity", 7, None), ("max_sales_quantity", None, 7)],
)
def test_the_sales_limit_goes_by_the_spelling_of_the_dialect_and_the_other_is_dropped(wire, maximum, short):
    limit = 6
    assert read({"sku": "A", "maximum_sales_quantity": 7}, sales_limit_name=wire)[limit] == maximum
    assert read({"sku": "A", "max_sales_quantity": 7}, sales_limit_name=wire)[limit] == short


def test_the_other_spelling_is_rejected_if_the_dialect_rejects_it(platform, rejection):
    platform.control("PUT", "settings", {"sales_limit_name": "max_sales_quantity", "other_sales_limit": "reject"})
    message = rejection({"products": [{"sku": "A", "maximum_sales_quantity": 7}]})
    assert message == (
        "products[0].maximum_sales_quantity: is the spelling of another dialect; this one reads max_sales_quantity"
    )


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"sku": 5}, "products[1].sku: must be a text, not 5"),
        ({"barcode": 96385074}, "products[1].barcode: must be a text, not 96385074"),
        ({"barcode": "9638507A"}, "products[1].barcode: must have digits only, not '9638507A'"),
        ({"barcode": "123456789012345"}, "products[1].barcode: must have at most 14 digits, not '123456789012345'"),
        ({"barcode": "٤٢"}, "products[1].barcode: must have digits only, not '٤٢'"),
        ({"sku": "A", "quantity": 3.4}, "products[1].quantity: must be a whole number, not 3.4"),
        ({"sku": "A", "quantity": "3"}, "products[1].quantity: must be a whole number, not '3'"),
        ({"sku": "A", "quantity": True}, "products[1].quantity: must be a whole number, not True"),
        ({"sku": "A", "price": "1.99"}, "products[1].price: must be a number, not '1.99'"),
        ({"sku": "A", "price": False}, "products[1].price: must be a number, not False"),
        ({"sku": "A", "active": 1}, "products[1].active: must be true or false, not 1"),
        ({"sku": "A", "active": "true"}, "products[1].active: must be true or false, not 'true'"),
        (
            {"sku": "A", "max_sales_quantity": 1.5},
            "products[1].max_sales_quantity: must be a whole number, not 1.5",
        ),
        ("A", "products[1]: must be an object"),
    ],
)
def test_one_bad_item_fails_the_whole_request_and_is_named(platform, rejection, item, message):
    platform.put_products(STORE, [{"sku": "good", "price": 1}])
    assert rejection({"products": [{"sku": "good", "price": 2}, item]}) == message
    platform.advance(0)
    assert platform.products(STORE)["good"]["price"] == 1


@pytest.mark.parametrize("quantity", ["3.0", "3e0", "99999999999999999999", "-7"])
def test_a_whole_number_may_be_written_in_any_way(platform, partner, quantity):
    platform.put_products(STORE, [{"sku": "A", "price": 1}])
    body = '{"products": [{"sku": "A", "quantity": ' + quantity + "}]}"
    assert partner.put(f"/v2/chains/demo-chain/vendors/{STORE}/catalog", content=body).status_code == 202


@pytest.mark.slow
@settings(max_examples=100)
@given(
    st.dictionaries(
        st.sampled_from(["sku", "barcode", "quantity", "price", "active", "maximum_sales_quantity", "other"]),
        st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False) | st.text(),
    )
)
def test_law_an_item_is_read_to_storable_values_or_rejected_with_its_position(item):
    try:
        number, sku, barcode, quantity, price, active, limit, error = read(item)
    except BodyError as rejection:
        event("rejection")
        place = rejection.message
    else:
        event("read")
        place = f"products[{number}]"
        assert sku or len(barcode) == 14
        assert all(value is None or abs(value) < 2**31 for value in (quantity, limit))
        assert price is None or 0 <= price <= money.PRICE_MILLI_MAX
        assert active in {True, False, None}
        assert error is None or isinstance(error, str)
    assert place.startswith("products[0]")
