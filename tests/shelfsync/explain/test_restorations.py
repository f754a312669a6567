"""While a restoration is in force, explain shows the ERP's and the wanted values, and who ordered it, why and until when."""

from __future__ import annotations

import re

import pytest

from restored_price import WHY, order_restoration


@pytest.fixture
def restored(world):
    order_restoration(world)
    return world


def _explained(world, sku="a", **at):
    return world.app.explain("store-001", sku, **at)


@pytest.mark.slow
def test_the_erps_price_is_shown_beside_the_restored_one(restored):
    restored.sync("delta")
    found = _explained(restored)
    assert (str(found.desired.values.price), str(found.desired.erp.price)) == ("5.180", "5.660")
    assert "has the same values" not in found.sentence
    assert "A restoration keeps these values" in found.sentence
    assert re.search(rf"until .* by ada: {WHY}", found.sentence)
    assert "The ERP has price 5.66, on sale, quantity 10 (read at" in found.sentence
    assert "Its values apply again when the restoration ends" in found.sentence


@pytest.mark.slow
def test_a_restoration_that_no_run_has_sent_yet_comes_next(restored):
    found = _explained(restored)
    assert "The platform acknowledged 5.66 at" in found.sentence
    assert "A restoration wants price 5.18, on sale, quantity 10" in found.sentence
    assert "The platform will show 5.18 when the next run has sent it" in found.sentence
    assert "The ERP has price 5.66" in found.sentence


@pytest.mark.slow
def test_after_its_end_the_erps_values_come_next(restored):
    restored.sync("delta")
    during = _explained(restored).at
    restored.app.end_restoration("store-001", who="bob")
    found = _explained(restored)
    assert "The platform acknowledged 5.18 at" in found.sentence
    assert re.search(
        "The ERP has price 5.66, .* The platform will show 5.66 when the next run has sent it", found.sentence
    )
    assert found.restorations == ()
    then = _explained(restored, at=during)
    assert "A restoration keeps these values" in then.sentence
    assert len(then.restorations) == 1


@pytest.mark.slow
def test_a_sku_without_a_restoration_is_explained_as_usual(restored):
    restored.sync("delta")
    found = _explained(restored, "b")
    assert "The ERP has the same values" in found.sentence
    assert found.restorations == ()
