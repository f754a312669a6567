"""What normalise changes in accepted values, as a plan lists it; held against normalise itself."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.catalog import altered_values
from shelfsync.catalog.snapshot import make_snapshot
from shelfsync.schemas import RAW
from shelfsync.settings import NormaliseSettings

TEXTS = st.one_of(
    st.decimals(min_value=-50, max_value=50, allow_nan=False, places=4).map(str),
    st.sampled_from(["56.99999999999999", "1.5000", "3.0", "-0.0", "-2", "1e-3", "15e-1", "", "1,5", "x", " 7.25 "]),
)


def _raw(rows):
    filled = [dict.fromkeys(RAW.names) | row | {"row_number": number} for number, row in enumerate(rows, 1)]
    return pa.Table.from_pylist(filled, schema=RAW)


def _found(raw, settings=None):
    settings = settings or NormaliseSettings()
    result = make_snapshot(raw, settings)
    quarantine = result.quarantine.select(altered_values.QUARANTINED)
    rows = altered_values.adjustments(raw.select(altered_values.COLUMNS), quarantine, settings)
    return result, {one.kind: one for one in rows}


@pytest.mark.parametrize(("digits", "found"), [(2, ("a",)), (0, ("a", "b")), (3, ())])
def test_a_price_finer_than_the_currency_is_named_and_sent_as_it_is(digits, found):
    raw = _raw(
        [
            {"vendor": "v", "sku": "a", "price": "7.995"},
            {"vendor": "v", "sku": "b", "price": "7.5"},
            {"vendor": "v", "sku": "c", "price": "8.0"},
        ]
    )
    settings = NormaliseSettings()
    result = make_snapshot(raw, settings)
    quarantine = result.quarantine.select(altered_values.QUARANTINED)
    rows = altered_values.adjustments(raw.select(altered_values.COLUMNS), quarantine, settings, digits=digits)
    named = {one.kind: [example.split(":")[0] for example in one.examples] for one in rows}
    assert named == ({"price_finer": list(found)} if found else {})
    assert str(result.snapshot["price"][0].as_py()) == "7.995"


def test_each_kind_is_counted_with_examples():
    raw = _raw(
        [
            {"vendor": "v", "sku": "a  ", "price": "56.99999999999999", "quantity": "2.9"},
            {"vendor": "v", "sku": "b", "price": "1.5000", "quantity": "-3"},
            {"vendor": "v", "sku": "c", "price": "2.0001", "quantity": "-0.5"},
            {"vendor": "v", "sku": "d", "price": "x", "quantity": "1.5"},
            {"vendor": "v", "sku": "e", "price": "1", "quantity": "0.75"},
        ]
    )
    _, found = _found(raw)
    assert {kind: (one.rows, one.examples) for kind, one in found.items()} == {
        "price_cut": (2, ("a: 56.99999999999999 -> 56.999", "c: 2.0001 -> 2.000")),
        "quantity_floored": (1, ("a: 2.9 -> 2",)),
        "quantity_lost": (1, ("e: 0.75 -> 0",)),
        "quantity_zeroed": (2, ("b: -3 -> 0", "c: -0.5 -> 0")),
    }


def test_a_value_that_is_left_out_is_no_adjustment():
    raw = _raw([{"vendor": "v", "sku": "a", "price": "-0.0001", "quantity": "-2"}])
    assert list(_found(raw)[1]) == ["quantity_zeroed"]


def test_what_the_settings_quarantine_is_no_adjustment():
    raw = _raw([{"vendor": "v", "sku": "a", "quantity": "2.9"}, {"vendor": "v", "sku": "b", "quantity": "-3"}])
    assert _found(raw, NormaliseSettings(quantity_rounding="quarantine", negative_quantity="quarantine"))[1] == {}


@pytest.mark.slow
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=12))
def test_a_value_is_an_adjustment_exactly_if_another_number_is_sent(pairs):
    raw = _raw([{"vendor": "v", "sku": f"{n:02}", "price": p, "quantity": q} for n, (p, q) in enumerate(pairs)])
    result, found = _found(raw)
    sent = {row["sku"]: row for row in result.snapshot.to_pylist()}
    changed = dict.fromkeys(("price_cut", "quantity_floored", "quantity_lost", "quantity_zeroed"), 0)
    for number, (price, quantity) in enumerate(pairs):
        row = sent.get(f"{number:02}")
        if row is None:
            continue
        changed["price_cut"] += row["price"] is not None and row["price"] != Decimal(price)
        if row["quantity"] is not None:
            changed["quantity_zeroed"] += Decimal(quantity) < 0
            changed["quantity_floored"] += Decimal(quantity) > row["quantity"] > 0
            changed["quantity_lost"] += 0 < Decimal(quantity) < 1
    assert {kind: one.rows for kind, one in found.items()} == {kind: rows for kind, rows in changed.items() if rows}
