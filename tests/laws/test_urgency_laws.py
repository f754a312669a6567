"""What holds of the order of leaving for any delta: nothing is lost, lanes leave in their order, and what is small leaves together."""

from __future__ import annotations

import itertools

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from catalog_rows import delta as a_delta
from catalog_rows import said, shelf
from catalog_strategies import shelves
from shelfsync.catalog.diff import diff
from shelfsync.catalog.urgency import LANES, lanes, parts

SHELVES = shelves()
TOGETHER = st.integers(0, 6)


@given(SHELVES, SHELVES, st.booleans(), TOGETHER)
def test_the_parts_are_together_the_delta_and_each_is_sorted(snapshot, baseline, full, together):
    whole = diff(snapshot, baseline, full=full)
    lane_of = dict(zip(whole["sku"].to_pylist(), lanes(whole, baseline).to_pylist(), strict=True))
    found = parts(whole, baseline, together_max=together)
    rows = pa.concat_tables([part.rows for part in found]).sort_by("sku") if found else whole
    assert rows.num_rows == whole.num_rows
    for sku, item in said(whole, "change").items():
        assert item.items() <= said(rows, "change")[sku].items()
    for part in found:
        skus = [sku.encode() for sku in part.rows["sku"].to_pylist()]
        assert skus == sorted(set(skus))
        assert part.urgent == sum(lane_of[sku] == part.lane for sku in part.rows["sku"].to_pylist())


@given(SHELVES, SHELVES, st.booleans(), TOGETHER)
def test_what_is_more_urgent_never_leaves_after_what_is_less(snapshot, baseline, full, together):
    whole = diff(snapshot, baseline, full=full)
    lane_of = dict(zip(whole["sku"].to_pylist(), lanes(whole, baseline).to_pylist(), strict=True))
    found = parts(whole, baseline, together_max=together)
    for earlier, later in itertools.pairwise(found):
        first = min(LANES.index(lane_of[sku]) for sku in earlier.rows["sku"].to_pylist())
        assert all(first <= LANES.index(lane_of[sku]) for sku in later.rows["sku"].to_pylist())
    assert sum(part.urgent for part in found) <= whole.num_rows


@given(SHELVES, SHELVES)
def test_a_small_delta_is_one_request(snapshot, baseline):
    whole = diff(snapshot, baseline, full=False)
    assert len(parts(whole, baseline, together_max=whole.num_rows)) == (1 if whole.num_rows else 0)


@given(SHELVES, SHELVES)
def test_no_price_leaves_with_the_prices_that_is_off_or_unknown(snapshot, baseline):
    whole = diff(snapshot, baseline, full=False)
    before = said(baseline)
    for row, lane in zip(whole.to_pylist(), lanes(whole, baseline).to_pylist(), strict=True):
        if lane == "price":
            assert row["sku"] in set(baseline["sku"].to_pylist())
            assert row["price"] is not None
            assert row["active"] is not False
            assert row["quantity"] != 0
        if lane == "stop_sell":
            assert row["active"] is False or row["quantity"] == 0
            assert before.get(row["sku"], {}).get("active") is not False


ROW = {"sku": "a", "price": "2.00", "quantity": 5, "active": True, "sales_buffer": 3}


def lane_of(now, before=ROW):
    return lanes(a_delta({"sku": "a", **now}), shelf(before) if before else shelf()).to_pylist()[0]


def test_the_lane_of_each_change():
    assert lane_of({"active": False}) == "stop_sell"
    assert lane_of({"active": False, "change": "removed"}) == "stop_sell"
    assert lane_of({"quantity": 0}) == "stop_sell"
    assert lane_of({"quantity": 2, "sales_buffer": 3}) == "stop_sell"
    assert lane_of({"quantity": 2}) == "catalog"
    assert lane_of({"quantity": 0, "price": "3.00"}) == "stop_sell"
    assert lane_of({"price": "3.00"}) == "price"
    assert lane_of({"price": "3.00", "quantity": 40, "sales_buffer": 3}) == "price"
    assert lane_of({"price": "3.00"}, ROW | {"active": False}) == "catalog"
    assert lane_of({"price": "3.00"}, ROW | {"quantity": 0}) == "catalog"
    assert lane_of({"price": "3.00", "quantity": 9, "active": True}, ROW | {"active": False}) == "price"
    assert lane_of({"active": True, "quantity": 9}, ROW | {"active": False}) == "catalog"
    assert lane_of({"price": "3.00", "quantity": 9, "active": True}, None) == "catalog"
    assert lane_of({"active": False}, None) == "stop_sell"
    assert lane_of({"active": False, "quantity": 4}, ROW | {"active": False}) == "catalog"
    assert lane_of({"price": "2.00", "quantity": 5, "active": True, "change": "same"}) == "catalog"
    assert lane_of({"price": "2.00", "active": True}, ROW | {"price": None}) == "price"


def test_large_lanes_leave_apart_and_a_lone_row_in_company():
    many = [{"sku": f"b{number}", "max_sales_quantity": 2} for number in range(9)]
    rows = a_delta({"sku": "a", "quantity": 0}, {"sku": "c", "price": "3.00"}, *many)
    found = parts(rows, shelf(ROW, ROW | {"sku": "c"}), together_max=5)
    assert [(part.lane, part.rows.num_rows, part.urgent) for part in found] == [("stop_sell", 2, 1), ("catalog", 9, 9)]
    found = parts(rows, shelf(ROW, ROW | {"sku": "c"}), together_max=0)
    assert [(part.lane, part.rows.num_rows) for part in found] == [("stop_sell", 2), ("catalog", 9)]
    found = parts(rows, shelf(ROW, ROW | {"sku": "c"}), together_max=11)
    assert [(part.lane, part.rows.num_rows, part.urgent) for part in found] == [("stop_sell", 11, 1)]
