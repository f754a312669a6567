from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from shelfsync.catalog.confirmed_by_listing import Shown, listing_lines
from shelfsync.schemas import DELTA


def _items(*rows):
    return pa.Table.from_pylist([{"change": "changed", **row} for row in rows], schema=DELTA)


def _states(items, shown, key="sku"):
    return {row["sku"]: row["state"] for row in listing_lines(items, shown, key).to_pylist()}


def test_a_price_shown_as_it_was_sent_is_proof_and_another_is_none():
    items = _items({"sku": "a", "price": Decimal("1.500")}, {"sku": "b", "price": Decimal("2.000")})
    shown = [Shown("a", (), Decimal("1.5"), True), Shown("b", (), Decimal("2.001"), True)]
    assert _states(items, shown) == {"a": "accepted", "b": "unaccounted"}


def test_a_price_with_more_decimals_than_the_platform_keeps_is_cut_before_it_is_compared():
    assert _states(_items({"sku": "a", "price": Decimal("1.234")}), [Shown("a", (), Decimal("1.2349"), True)]) == {
        "a": "accepted"
    }


@pytest.mark.parametrize("field", ["quantity", "max_sales_quantity"])
def test_what_the_listing_does_not_show_it_does_not_prove(field):
    items = _items({"sku": "a", "price": Decimal("1.000"), field: 3})
    assert _states(items, [Shown("a", (), Decimal(1), True)]) == {}


def test_availability_is_proven_too():
    items = _items({"sku": "a", "active": False}, {"sku": "b", "active": False})
    shown = [Shown("a", (), None, False), Shown("b", (), None, True)]
    assert _states(items, shown) == {"a": "accepted", "b": "unaccounted"}


def test_a_sku_that_is_not_shown_has_no_line():
    assert _states(_items({"sku": "a", "price": Decimal("1.000")}), [Shown("b", (), Decimal(1), True)]) == {}


def test_called_by_barcode_padding_is_no_difference():
    items = _items({"sku": "a", "barcode": "12345678", "price": Decimal("1.000")})
    assert _states(items, [Shown("other", ("00000012345678",), Decimal(1), True)], "barcode") == {"a": "accepted"}
    assert _states(items, [Shown("a", ("00000012345679",), Decimal(1), True)], "barcode") == {}
