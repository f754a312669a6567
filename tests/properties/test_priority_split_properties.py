"""The order of sending for any delta: nothing is lost, priorities keep their order, and small ones are sent together."""

from __future__ import annotations

import itertools

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from catalog_rows import delta as a_delta
from catalog_rows import fields_by_sku, shelf
from catalog_strategies import shelves
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.priority_split import PRIORITIES, parts, priorities

SHELVES = shelves()
TOGETHER = st.integers(0, 6)


@given(SHELVES, SHELVES, st.booleans(), TOGETHER)
def test_the_parts_are_together_the_delta_and_each_is_sorted(snapshot, baseline, full, together):
    whole = compute_delta(snapshot, baseline, full=full)
    priority_of = dict(zip(whole["sku"].to_pylist(), priorities(whole, baseline).to_pylist(), strict=True))
    found = parts(whole, baseline, together_max=together)
    rows = pa.concat_tables([part.rows for part in found]).sort_by("sku") if found else whole
    assert rows.num_rows == whole.num_rows
    for sku, item in fields_by_sku(whole, "change").items():
        assert item.items() <= fields_by_sku(rows, "change")[sku].items()
    for part in found:
        skus = [sku.encode() for sku in part.rows["sku"].to_pylist()]
        assert skus == sorted(set(skus))
        assert part.urgent == sum(priority_of[sku] == part.priority for sku in part.rows["sku"].to_pylist())


@given(SHELVES, SHELVES, st.booleans(), TOGETHER)
def test_urgent_changes_are_never_sent_after_less_urgent_ones(snapshot, baseline, full, together):
    whole = compute_delta(snapshot, baseline, full=full)
    priority_of = dict(zip(whole["sku"].to_pylist(), priorities(whole, baseline).to_pylist(), strict=True))
    found = parts(whole, baseline, together_max=together)
    for earlier, later in itertools.pairwise(found):
        first = min(PRIORITIES.index(priority_of[sku]) for sku in earlier.rows["sku"].to_pylist())
        assert all(first <= PRIORITIES.index(priority_of[sku]) for sku in later.rows["sku"].to_pylist())
    assert sum(part.urgent for part in found) <= whole.num_rows


@given(SHELVES, SHELVES)
def test_a_small_delta_is_one_request(snapshot, baseline):
    whole = compute_delta(snapshot, baseline, full=False)
    assert len(parts(whole, baseline, together_max=whole.num_rows)) == (1 if whole.num_rows else 0)


ROW = {"sku": "a", "price": "2.00", "quantity": 5, "active": True, "sales_buffer": 3}


def test_large_priorities_are_sent_separately_and_a_small_one_with_the_next():
    many = [{"sku": f"b{number}", "max_sales_quantity": 2} for number in range(9)]
    rows = a_delta({"sku": "a", "quantity": 0}, {"sku": "c", "price": "3.00"}, *many)
    found = parts(rows, shelf(ROW, ROW | {"sku": "c"}), together_max=5)
    assert [(part.priority, part.rows.num_rows, part.urgent) for part in found] == [
        ("stop_sell", 2, 1),
        ("catalog", 9, 9),
    ]
    found = parts(rows, shelf(ROW, ROW | {"sku": "c"}), together_max=0)
    assert [(part.priority, part.rows.num_rows) for part in found] == [("stop_sell", 2), ("catalog", 9)]
    found = parts(rows, shelf(ROW, ROW | {"sku": "c"}), together_max=11)
    assert [(part.priority, part.rows.num_rows, part.urgent) for part in found] == [("stop_sell", 11, 1)]
