"""The curves of a SKU: a value that was not sent stays, a gap in what the platform shows is one, and customers pay by promotion."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from types import SimpleNamespace

import pytest

from restored_price import order_restoration
from shelfsync.explain.curves import Step, _carried, _shown, _without_repeats, curves

T = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)


def test_a_value_that_was_not_sent_stays_as_it_was():
    steps = [Step(T + DAY, None, False), Step(T, Decimal(1), None), Step(T + 2 * DAY, Decimal(2), None)]
    assert _carried(steps) == [
        Step(T, Decimal(1), None),
        Step(T + DAY, Decimal(1), False),
        Step(T + 2 * DAY, Decimal(2), False),
    ]


def test_between_two_spans_the_platform_did_not_show_it():
    def span(begin, end, price):
        ends = None if end is None else T + end * DAY
        return SimpleNamespace(valid_from=T + begin * DAY, valid_to=ends, price=price, active=True)

    found = list(_shown([span(0, 1, 1), span(1, 2, 2), span(3, 4, 3)], T + 9 * DAY))
    assert [(step.at - T).days for step in found] == [0, 1, 2, 3, 4]
    assert [step.price for step in found] == [1, 2, None, 3, None]
    assert [step.price for step in _shown([span(0, None, 1)], T)] == [1]


def test_a_step_that_changes_nothing_is_none():
    steps = [Step(T, Decimal(1), True), Step(T + DAY, Decimal(1), True), Step(T + 2 * DAY, Decimal(1), False)]
    assert [*_without_repeats(steps)] == [steps[0], steps[2]]


@pytest.mark.slow
def test_customers_have_a_curve_of_their_own_if_a_promotion_has_the_product(shop):
    shop.erp.put("c1", "a", "8")
    shop.sync()
    app = shop.world.app

    def of(sku):
        found = curves(app.context, app.explain("store-001", sku))
        return {curve.name: [step.price for step in curve.steps] for curve in found}

    assert of("a")["customer"][-1] == Decimal(8)
    assert of("a")["acknowledged"] == [Decimal(10)]
    assert "customer" not in of("b")


@pytest.mark.slow
def test_a_restored_price_is_none_of_the_erps(world):
    order_restoration(world)
    world.sync("delta")
    world.app.end_restoration("store-001", who="ada")
    world.erp.put("store-001", "a", "5.70")
    world.sync("delta")
    found = curves(world.app.context, world.app.explain("store-001", "a"))
    steps = {curve.name: [step.price for step in curve.steps] for curve in found}
    assert steps["sent"] == [Decimal(text) for text in ("5.18", "5.66", "5.18", "5.70")]
    assert steps["ERP"] == [Decimal(text) for text in ("5.18", "5.66", "5.70")]
