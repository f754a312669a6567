"""A past state wanted for a time, sent by the ordinary path, and back."""

from __future__ import annotations

import datetime as dt
import time

import pytest

from shelfsync.errors import DataError
from small_erp import SQL
from two_products import PRODUCTS

HOUR = dt.timedelta(hours=1)


@pytest.fixture
def mistaken(world):
    """Two SKUs at 1.00, then a mistake in the till makes them 6.00; `before` lies between."""
    world.platform.put_products("store-001", PRODUCTS)
    for sku in ("a", "b"):
        world.erp.put("store-001", sku, "1.00")
    world.sync("full")
    before = world.app.explain("store-001", "a").at
    for sku in ("a", "b"):
        world.erp.put("store-001", sku, "6.00")
    world.sync("delta")
    assert _prices(world) == {"a": 6.0, "b": 6.0}
    return world, before


def _prices(world):
    return {sku: product["price"] for sku, product in world.shown().items()}


def _restore(world, at, **order):
    order = {"span": HOUR, "skus": None, "why": "a mistake in the till", "who": "ada", "dry_run": False} | order
    return world.app.restore("store-001", at=at, **order)


@pytest.mark.slow
def test_a_past_state_is_sent_by_the_next_delta_and_stays_while_it_is_wanted(mistaken):
    world, before = mistaken
    result = _restore(world, before)
    assert result["changes"] == 2
    world.sync("delta")
    assert _prices(world) == {"a": 1.0, "b": 1.0}
    assert world.sync("delta")["sent"] == 0
    assert "by ada: a mistake in the till" in world.app.explain("store-001", "a").sentence


@pytest.mark.slow
def test_the_end_of_a_restoration_sends_the_newest_values_of_the_erp(mistaken):
    world, before = mistaken
    _restore(world, before)
    world.sync("delta")
    world.erp.put("store-001", "a", "1.10")
    world.app.end_restoration("store-001", who="ada")
    world.sync("delta")
    assert _prices(world) == {"a": 1.1, "b": 6.0}


@pytest.mark.slow
def test_when_its_time_is_over_the_erp_counts_again(mistaken):
    world, before = mistaken
    result = _restore(world, before, span=dt.timedelta(seconds=4))
    world.sync("delta")
    if dt.datetime.now(dt.UTC) < result["until"]:
        assert _prices(world) == {"a": 1.0, "b": 1.0}
    deadline = time.monotonic() + 30
    while _prices(world) != {"a": 6.0, "b": 6.0} and time.monotonic() < deadline:
        world.sync("delta")
    assert _prices(world) == {"a": 6.0, "b": 6.0}


@pytest.mark.slow
def test_only_the_skus_that_are_named_are_restored(mistaken):
    world, before = mistaken
    assert _restore(world, before, skus=["a"])["changes"] == 1
    world.sync("delta")
    assert _prices(world) == {"a": 1.0, "b": 6.0}


@pytest.mark.slow
def test_a_category_is_restored_by_its_name(make_world):
    sql = SQL.replace(" FROM", ", CASE sku WHEN 'a' THEN 'dairy' ELSE 'bread' END AS category FROM")
    world = make_world(erp={"sql": sql})
    world.platform.put_products("store-001", PRODUCTS)
    for price in ("1.00", "1.30"):
        for sku in ("a", "b"):
            world.erp.put("store-001", sku, price)
        world.sync("delta")
    first = world.rows("SELECT min(valid_from) FROM warehouse.baseline_history")[0][0]
    with pytest.raises(DataError, match="no category 'diary'; it has bread, dairy"):
        _restore(world, first, category="diary")
    assert _restore(world, first, category="dairy")["changes"] == 1
    world.sync("delta")
    assert _prices(world) == {"a": 1.0, "b": 1.3}


@pytest.mark.slow
def test_skus_of_a_category_that_were_never_accepted_are_left_out_and_reported(make_world):
    sql = SQL.replace(" FROM", ", CASE sku WHEN 'nowhere' THEN 'toys' ELSE 'dairy' END AS category FROM")
    world = make_world(erp={"sql": sql})
    world.platform.put_products("store-001", PRODUCTS)
    for price in ("1.00", "1.30"):
        for sku in ("a", "b", "stranger", "nowhere"):
            world.erp.put("store-001", sku, price)
        world.sync("delta")
    first = world.rows("SELECT min(valid_from) FROM warehouse.baseline_history WHERE sku = 'a'")[0][0]
    result = _restore(world, first, category="dairy")
    assert (result["changes"], result["left_out"]) == (2, 1)
    assert any("left out: 1 SKUs of the category" in line for line in result["lines"])
    world.sync("delta")
    assert _prices(world) == {"a": 1.0, "b": 1.0}
    with pytest.raises(DataError, match="none of the 1 SKUs of category 'toys'"):
        _restore(world, first, category="toys")
    with pytest.raises(DataError, match="the first is 'stranger'"):
        _restore(world, first, skus=["a", "stranger"])


@pytest.mark.slow
def test_an_unknown_category_is_reported_in_one_line(mistaken):
    world, before = mistaken
    with pytest.raises(DataError, match="the ERP never named a category"):
        _restore(world, before, category="dairy")


@pytest.mark.slow
def test_a_plan_shows_what_would_move_and_orders_nothing(mistaken):
    world, before = mistaken
    result = _restore(world, before, dry_run=True)
    assert any("a: price 6.00 -> 1.00" in line for line in result["lines"])
    assert "what they hold waits for a decision" in result["lines"][-1], (
        "a slipped decimal point is held on its way back"
    )
    assert world.sync("delta")["sent"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "problem"),
    [
        ({"at": dt.datetime(2020, 1, 1, tzinfo=dt.UTC)}, "nothing was acknowledged"),
        ({"at": dt.datetime(2120, 1, 1, tzinfo=dt.UTC)}, "has to lie in the past"),
        ({"span": dt.timedelta(0)}, "longer than nothing"),
        ({"skus": ["a", "zz"]}, "the first is 'zz'"),
    ],
)
def test_an_impossible_restoration_is_reported_in_one_line(mistaken, order, problem):
    world, before = mistaken
    with pytest.raises(DataError, match=problem):
        _restore(world, **({"at": before} | order))
