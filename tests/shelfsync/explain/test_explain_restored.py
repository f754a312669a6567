"""While a restoration is in force, explain tells apart what the ERP says and what is wanted, with who ordered it, why and until when."""

from __future__ import annotations

import re

import pytest

from restored_shelf import WHY, order_restoration


@pytest.fixture
def restored(world):
    order_restoration(world)
    return world


def _explained(world, sku="a", **at):
    return world.house.explain("store-001", sku, **at)


def test_the_erps_price_is_told_beside_the_restored_one(restored):
    restored.sync("delta")
    told = _explained(restored)
    assert (str(told.desired.values.price), str(told.desired.erp.price)) == ("5.180", "5.660")
    assert "says the same" not in told.sentence
    assert "A restoration keeps it so, whatever the ERP says" in told.sentence
    assert re.search(rf"until .* by ada: {WHY}", told.sentence)
    assert "The ERP says price 5.66, on sale, quantity 10, as read at" in told.sentence
    assert "it counts again when the restoration ends" in told.sentence


def test_a_restoration_that_no_run_has_sent_yet_is_told_as_what_comes_next(restored):
    told = _explained(restored)
    assert "It shows 5.66 since" in told.sentence
    assert "A restoration wants price 5.18, on sale, quantity 10" in told.sentence
    assert "it will show 5.18 when the next run has sent it" in told.sentence
    assert "The ERP says price 5.66" in told.sentence


def test_after_its_end_what_the_erp_says_is_what_comes_next(restored):
    restored.sync("delta")
    during = _explained(restored).at
    restored.house.end_restoration("store-001", who="bob")
    told = _explained(restored)
    assert "It shows 5.18 since" in told.sentence
    assert re.search("The ERP says price 5.66, .* it will show 5.66 when the next run has sent it", told.sentence)
    assert told.restorations == ()
    then = _explained(restored, at=during)
    assert "A restoration keeps it so" in then.sentence
    assert len(then.restorations) == 1


def test_a_sku_that_no_restoration_names_is_told_as_ever(restored):
    restored.sync("delta")
    told = _explained(restored, "b")
    assert "The ERP says the same" in told.sentence
    assert told.restorations == ()
