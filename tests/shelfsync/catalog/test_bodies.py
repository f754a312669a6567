from __future__ import annotations

import json

import pytest

from catalog_rows import delta
from shelfsync.catalog.bodies import body, cut, stream
from shelfsync.errors import DataError

SKU = {"key": "sku", "sales_limit_name": "maximum_sales_quantity"}


def items_of(number):
    return delta(*({"sku": f"S{n:06d}", "price": "12.5", "quantity": n, "active": n % 2 == 0} for n in range(number)))


def test_an_item_names_its_members_in_order_and_only_those_it_has():
    items = delta(
        {"sku": "A", "price": "4.5", "quantity": 3, "active": True, "max_sales_quantity": 10},
        {"sku": "B", "active": False},
        {"sku": "C", "price": "0"},
    )
    assert body(items, **SKU) == (
        b'{"products":[{"sku":"A","price":4.5,"quantity":3,"active":true,"maximum_sales_quantity":10},'
        b'{"sku":"B","active":false},{"sku":"C","price":0}]}'
    )


@pytest.mark.parametrize(
    ("price", "text"),
    [
        ("4.500", "4.5"),
        ("4.000", "4"),
        ("100", "100"),
        ("0", "0"),
        ("0.001", "0.001"),
        ("10.010", "10.01"),
        ("99999999999999999.999",) * 2,
    ],
)
def test_a_price_is_written_as_the_shortest_exact_decimal(price, text):
    assert body(delta({"sku": "A", "price": price}), **SKU) == f'{{"products":[{{"sku":"A","price":{text}}}]}}'.encode()


def test_the_sales_limit_goes_by_the_name_in_the_settings():
    written = body(delta({"sku": "A", "max_sales_quantity": 1}), key="sku", sales_limit_name="max_sales_quantity")
    assert written == b'{"products":[{"sku":"A","max_sales_quantity":1}]}'


def test_items_are_called_by_one_key_only():
    items = delta({"sku": "A", "barcode": "0096385074", "quantity": 1})
    assert body(items, key="barcode", sales_limit_name="m") == b'{"products":[{"barcode":"0096385074","quantity":1}]}'


def test_an_item_without_its_key_is_named():
    items = delta({"sku": "A", "barcode": "1", "quantity": 1}, {"sku": "B", "quantity": 1})
    with pytest.raises(DataError, match="SKU 'B' has no barcode"):
        list(cut(items, key="barcode", sales_limit_name="m", body_max_bytes=1000))


def test_an_empty_delta_makes_no_request():
    assert list(cut(delta(), body_max_bytes=1000, **SKU)) == []


def test_a_limit_is_kept_to_the_byte():
    items = items_of(3)
    length = len(body(items, **SKU))
    assert [batch.items.num_rows for batch in cut(items, body_max_bytes=length, **SKU)] == [3]
    assert [batch.items.num_rows for batch in cut(items, body_max_bytes=length - 1, **SKU)] == [2, 1]


def test_the_limit_counts_bytes_not_characters():
    items = delta(*({"sku": f"{number}{'é' * 30}", "quantity": 1} for number in range(2)))
    length = len(body(items, **SKU))
    assert len(list(cut(items, body_max_bytes=length - 1, **SKU))) == 2


def test_an_item_larger_than_the_limit_is_an_error_that_names_it():
    items = delta({"sku": "A", "quantity": 1}, {"sku": "B" * 60, "quantity": 1})
    with pytest.raises(DataError, match=r"'B{60}' alone makes a body of \d+ bytes, more than the 64"):
        list(cut(items, body_max_bytes=64, **SKU))


@pytest.mark.slow
def test_many_items_come_through_the_seams_of_their_encoding():
    items = items_of(100_000)
    batches = list(cut(items, body_max_bytes=1_500_000, **SKU))
    assert [batch.items.num_rows for batch in batches][-1] < 30_000
    sent = [item for batch in batches for item in json.loads(bytes(batch.body))["products"]]
    assert sent == [{"sku": f"S{n:06d}", "price": 12.5, "quantity": n, "active": n % 2 == 0} for n in range(100_000)]
    assert all(batch.body_bytes == len(bytes(batch.body)) <= 1_500_000 for batch in batches)


@pytest.mark.slow
def test_a_streamed_body_is_the_same_in_pieces_again_and_again():
    items = items_of(80_000)
    streamed = stream(items, **SKU)
    chunks = list(streamed)
    assert len(chunks) > 5
    assert max(map(len, chunks)) <= 256 * 1024
    assert b"".join(chunks) == b"".join(streamed) == body(items, **SKU)
    assert len(streamed) == sum(map(len, chunks))


def test_the_body_of_a_table_cut_out_of_another_is_its_own():
    items = items_of(10)
    assert body(items.slice(4, 3), **SKU) == body(items.take([4, 5, 6]), **SKU)
