"""What holds of batches for any delta and any limit."""

from __future__ import annotations

import itertools
import json
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from catalog_rows import fields_by_sku, shelf
from catalog_strategies import shelves
from shelfsync.catalog.bodies import body, cut, stream
from shelfsync.catalog.delta import compute_delta
from shelfsync.errors import DataError
from shelfsync.schemas import FIELDS

SHELVES = shelves()
LIMITS = st.integers(150, 1200)
NAME = "maximum_sales_quantity"
SKU = {"key": "sku", "sales_limit_name": NAME}


def deltas():
    return st.builds(
        lambda snapshot, baseline, full: compute_delta(snapshot, baseline, full=full), SHELVES, SHELVES, st.booleans()
    )


@given(deltas(), LIMITS)
def test_batches_one_after_the_other_are_the_delta(delta, limit):
    batches = list(cut(delta, body_max_bytes=limit, **SKU))
    assert pa.concat_tables([delta.slice(0, 0), *(batch.items for batch in batches)]).equals(delta)
    assert all(batch.items.num_rows for batch in batches)


@given(deltas(), LIMITS)
def test_each_body_has_the_length_it_reports_and_keeps_the_limit(delta, limit):
    for batch in cut(delta, body_max_bytes=limit, **SKU):
        assert len(bytes(batch.body)) == batch.body_bytes == len(batch.body) <= limit


@given(deltas(), LIMITS)
def test_a_body_is_as_long_as_it_can_be(delta, limit):
    batches = list(cut(delta, body_max_bytes=limit, **SKU))
    for one, following in itertools.pairwise(batches):
        longer = pa.concat_tables([one.items, following.items.slice(0, 1)])
        assert len(body(longer, **SKU)) > limit


@given(deltas(), LIMITS)
def test_a_body_contains_exactly_its_items_in_the_order_of_the_interface(delta, limit):
    for batch in cut(delta, body_max_bytes=limit, **SKU):
        sent = json.loads(bytes(batch.body), parse_float=Decimal, object_pairs_hook=list)
        ((name, items),) = sent
        assert name == "products"
        wire = [member for item in items for member in item]
        expected = []
        for sku, values in fields_by_sku(batch.items).items():
            expected += [
                ("sku", sku),
                *((NAME if key == "max_sales_quantity" else key, values[key]) for key in FIELDS if key in values),
            ]
        assert wire == expected


@given(deltas(), LIMITS)
def test_the_same_items_always_give_the_same_bytes(delta, limit):
    for batch in cut(delta, body_max_bytes=limit, **SKU):
        again = body(batch.items, **SKU)
        assert bytes(batch.body) == again == bytes(batch.body)
        assert bytes(stream(batch.items, **SKU)) == again
        assert bytes(stream(batch.items, body_bytes=batch.body_bytes, **SKU)) == again


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_key_arrives_as_it_is_in_utf_8(sku):
    written = body(compute_delta(shelf({"sku": sku, "quantity": 1}), shelf(), full=False), **SKU)
    assert (
        written
        == json.dumps({"products": [{"sku": sku, "quantity": 1}]}, ensure_ascii=False, separators=(",", ":")).encode()
    )


@given(deltas())
def test_an_item_that_cannot_fit_is_named(delta):
    assume(delta.num_rows)
    longest = max(range(delta.num_rows), key=lambda row: len(body(delta.slice(row, 1), **SKU)))
    limit = len(body(delta.slice(longest, 1), **SKU)) - 1
    with pytest.raises(DataError) as caught:
        list(cut(delta, body_max_bytes=limit, **SKU))
    assert any(repr(sku) in str(caught.value) for sku in delta["sku"].to_pylist())
