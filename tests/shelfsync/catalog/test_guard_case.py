"""The guards compare with the last known value where the baseline has a null."""

from __future__ import annotations

from hypothesis import given

from catalog_rows import shelf
from catalog_strategies import shelves
from shelfsync.catalog.baseline import known
from shelfsync.schemas import BASELINE, FIELDS


@given(now=shelves(), before=shelves())
def test_it_is_the_baseline_with_its_gaps_filled_and_nothing_else(now, before):
    now, before = now.select(BASELINE.names), before.select(BASELINE.names)
    filled = known(now, before)
    assert filled.schema == BASELINE
    assert filled["sku"] == now["sku"]
    was = {row["sku"]: row for row in before.to_pylist()}
    for row, after in zip(now.to_pylist(), filled.to_pylist(), strict=True):
        for name in FIELDS:
            assert after[name] == (was.get(row["sku"], {}).get(name) if row[name] is None else row[name])
    assert known(filled, before) == filled


def test_a_sales_buffer_comes_with_the_quantity_that_was_sent_against_it():
    before = shelf({"sku": "a", "quantity": 5, "sales_buffer": 3}, {"sku": "b", "quantity": 5, "sales_buffer": 3})
    now = shelf({"sku": "a", "sales_buffer": 9}, {"sku": "b", "quantity": 7, "sales_buffer": 9})
    assert [(row["quantity"], row["sales_buffer"]) for row in known(now, before).to_pylist()] == [(5, 3), (7, 9)]


def test_of_several_the_first_that_knows_a_value_is_asked():
    nothing = shelf({"sku": "a"}, {"sku": "b"})
    acknowledged, sent = (
        shelf({"sku": "a", "price": "1.00"}),
        shelf({"sku": "a", "price": "2.00"}, {"sku": "b", "price": "3.00"}),
    )
    assert [str(row["price"]) for row in known(nothing, acknowledged, sent).to_pylist()] == ["1.000", "3.000"]
