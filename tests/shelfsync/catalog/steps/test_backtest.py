"""The guards on history: what the thresholds of today would have held in the runs of the last days, without holding anything."""

from __future__ import annotations

import datetime as dt

import pytest

V = "store-001"
SKUS = [f"s{number:02}" for number in range(20)]


@pytest.fixture
def past(make_world):
    """A world in which no rule looked at slipped decimal points, and one price slipped."""
    world = make_world(guards={"shifted_decimal": {"enabled": False}, "price_change": {"enabled": False}})
    world.platform.put_products(
        V, [{"sku": sku, "barcodes": [], "title": sku, "price": 9.0, "active": True} for sku in SKUS]
    )
    for sku in SKUS:
        world.erp.put(V, sku, "2.00")
    world.sync("full")
    world.erp.put(V, "s01", "20.00")
    world.erp.put(V, "s02", "2.10")
    assert world.sync("delta")["accepted"] == 2
    return world


@pytest.mark.slow
def test_the_thresholds_of_today_are_tried_on_the_runs_of_before(past, make_world):
    strict = make_world()
    result = strict.app.holds.backtest(days=1)
    assert [(one["vendor"], one["rule"], one["rows"]) for one in result["holds"]] == [(V, "shifted_decimal", 1)]
    assert (result["runs"], result["passed_over"]) == (2, 0)
    assert "shifted_decimal: 1 holds, 1 rows" in result["lines"]
    assert past.app.holds.backtest(days=1)["holds"] == []
    assert strict.rows("SELECT count(*) FROM ledger.hold") == [(0,)]


@pytest.mark.slow
def test_other_vendors_and_older_runs_are_left_alone(past, make_world):
    strict = make_world()
    assert strict.app.holds.backtest(("store-002",), days=1)["runs"] == 0
    assert strict.app.holds.backtest(days=0)["lines"][-1] == "nothing was checked"


@pytest.mark.slow
def test_a_run_whose_files_are_gone_is_counted_and_passed_over(past, make_world):
    strict = make_world()
    (path,) = strict.rows("SELECT delta_path FROM ledger.vendor_run ORDER BY generation DESC LIMIT 1")
    assert strict.app.context.lake.remove(path[0], not_after=dt.datetime.max.replace(tzinfo=dt.UTC))
    result = strict.app.holds.backtest(days=1)
    assert (result["runs"], result["passed_over"], result["holds"]) == (1, 1, [])
    assert "(SHELFSYNC_HOUSEKEEPING__SNAPSHOT_DAYS, SHELFSYNC_HOUSEKEEPING__BASELINE_DAYS)" in result["lines"][-2]
    assert result["lines"][-1] == "nothing would have been held"
