from __future__ import annotations

import pytest

from catalog_rows import said, shelf
from shelfsync.catalog.diff import diff
from shelfsync.catalog.guard import guard
from shelfsync.columns import HELD


def store(skus, **values):
    return shelf(*({"sku": f"S{number:04d}", "active": True, "price": "1", **values} for number in skus))


def split(snapshot, baseline, share=0.1, **options):
    return guard(diff(snapshot, baseline, full=False), baseline, removed_share_max=share, **options)


@pytest.mark.parametrize(("missing", "held"), [(99, False), (100, False), (101, True)])
def test_removals_are_held_from_the_first_above_the_share(missing, held):
    result = split(store(range(missing, 1000)), store(range(1000)))
    assert result.held.num_rows == (missing if held else 0)
    assert result.released.num_rows == (0 if held else missing)


def test_a_share_is_meant_as_it_is_written():
    result = split(store(range(29, 100)), store(range(100)), share=0.29)  # 0.29 * 100 is 28.999999999999996 in binary
    assert result.held.num_rows == 0


def test_the_rest_flows_while_removals_are_held():
    snapshot = store(range(500, 1000), price="2")
    result = split(snapshot, store(range(1000)))
    assert set(result.released["change"].to_pylist()) == {"changed"}
    assert result.released.num_rows == result.held.num_rows == 500
    assert result.held.schema == HELD


def test_a_held_row_says_why_and_what_to_turn():
    (row, *_) = split(store(range(0)), store(range(1000))).held.to_pylist()
    assert row["reason"] == "mass_removal"
    assert "1000 of 1000 SKUs on sale" in row["message"]
    assert "SHELFSYNC_SYNC__REMOVED_SHARE_MAX" in row["message"]


def test_a_handful_of_removals_always_flows():
    assert split(store(range(5, 10)), store(range(10))).held.num_rows == 0
    assert split(store(range(6, 10)), store(range(10))).held.num_rows == 6
    assert split(store(range(1, 10)), store(range(10)), share=0.05, removed_rows_free=0).held.num_rows == 1


def test_what_is_off_already_does_not_make_a_store_look_larger():
    off = [{"sku": f"X{number:04d}", "active": False} for number in range(5000)]
    baseline = shelf(*off, *store(range(100)).to_pylist())
    assert split(store(range(11, 100)), baseline).held.num_rows == 11


def test_stores_that_never_say_active_are_guarded_too():
    result = split(store(range(50, 100), active=None), store(range(100), active=None))
    assert result.held.num_rows == 50


def test_switching_off_row_by_row_is_no_removal():
    result = split(store(range(1000), active=False), store(range(1000)))
    assert result.held.num_rows == 0


def test_a_quantity_left_alone_by_whoever_called_before_takes_active_along():
    baseline = store(range(2), quantity=5)
    both = diff(store(range(2), quantity=0), baseline, full=False)
    assert said(guard(both.slice(1), baseline, removed_share_max=1).released) == {
        "S0001": {"quantity": 0, "active": True}
    }


def test_a_quantity_left_alone_by_the_guard_takes_active_along():
    baseline = store(range(100), quantity=5)
    snapshot = shelf({"sku": "S0099", "active": True, "price": "1", "quantity": 0})
    result = split(snapshot, baseline)
    assert said(result.released) == {"S0099": {"quantity": 0, "active": True}}
