"""The base price of a row: the lowest that is known, and which rows wait for one."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from shelfsync.promotions.base_price import base_prices, not_below, priced, waits_for
from shelfsync.promotions.schemas import ASKED, ASSORTMENT, ROWS

D = Decimal


def rows(*given):
    """Rows of one campaign."""
    usual = {"head": 0, "subtype": "FINAL_PRICE", "value": D(8)}
    numbered = [{"row_number": number, **usual, **row} for number, row in enumerate(given, 1)]
    return pa.Table.from_pylist(numbered, schema=ROWS)


def assortment(**prices):
    return pa.Table.from_pylist([{"sku": sku, "price": price} for sku, price in prices.items()], schema=ASSORTMENT)


def asked(**prices):
    return assortment(**prices).select(ASKED.names)


def test_the_lowest_that_is_known_counts():
    known = priced(assortment(a=D(10), b=D(10), c=None), asked(d=D(7)))
    given = rows(
        {"sku": "a"}, {"sku": "b", "base_price": D(9)}, {"sku": "c", "base_price": D(9)}, {"sku": "d"}, {"sku": "x"}
    )
    assert base_prices(given, known).to_pylist() == [D(10), D(9), D(9), D(7), None]


@pytest.mark.parametrize(
    ("subtype", "value", "wrong"),
    [
        ("FINAL_PRICE", "9.999", False),
        ("FINAL_PRICE", "10", True),
        ("ABSOLUTE", "11", True),
        ("PERCENTAGE", "50", False),
        ("TOTAL_PRICE", "20", False),
    ],
)
def test_a_price_and_an_amount_off_must_be_below_it(subtype, value, wrong):
    given = rows({"sku": "a", "subtype": subtype, "value": D(value)})
    assert not_below(given, pa.array([D(10)])).tolist() == [wrong]
    assert not_below(given, pa.array([None], pa.decimal128(20, 3))).tolist() == [False], "that row waits"


@pytest.mark.parametrize(
    ("known", "own", "others", "waits"),
    [
        (assortment(), None, None, True),
        (assortment(a=None), None, None, True),
        (assortment(b=D(1)), None, None, False),
        (assortment(b=D(1)), asked(a=None), None, True),
        (assortment(b=D(1)), None, asked(c=D(1)), True),
        (assortment(b=D(1)), None, asked(a=D(1)), False),
    ],
    ids=["no catalog", "no price yet", "not its SKU", "quarantined in the ERP", "at no store", "at another store"],
)
def test_a_row_waits_if_nothing_tells_its_base_price(known, own, others, waits):
    given = rows({"sku": "a"})
    base = base_prices(given, priced(known, own))
    assert waits_for(given, base, known, own, others).tolist() == [waits]
