"""A bar is as long as its share, and is seen if it is not zero; a line has each step; neither leaves the chart."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from shelfsync.explain.curves import Curve, Step
from shelfsync.pages.charts import LABEL_MAX, Bar, Bars, Steps

values = st.floats(0, 1e18, allow_nan=False)


def widths(*of, whole=None):
    chart = Bars("t", ("a", "b"), tuple(Bar("x", value, "") for value in of), whole=whole)
    return [float(width.rstrip("%")) for _, _, width in chart.drawn()]


@given(st.lists(values, max_size=9), st.one_of(st.none(), values))
def test_every_bar_is_within_the_chart_and_seen(of, whole):
    for value, width in zip(of, widths(*of, whole=whole), strict=True):
        assert (0.5 <= width <= 100) if value else width == 0


def test_a_bar_is_as_long_as_its_share():
    assert widths(50, 100) == [50, 100]
    assert widths(50, whole=200) == [25]


def test_a_long_label_is_cut_in_the_chart_alone():
    bar = Bar("x" * 99, 1, "1")
    assert (len(bar.short), len(bar.label)) == (LABEL_MAX, 99)


T = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
steps_of_a_curve = st.lists(
    st.builds(
        Step,
        st.integers(0, 1_000).map(lambda hours: T + dt.timedelta(hours=hours)),
        st.one_of(st.none(), st.decimals(0, 10**9, places=3)),
        st.one_of(st.none(), st.booleans()),
    ),
    min_size=1,
    max_size=6,
).map(lambda steps: tuple(sorted(steps, key=lambda step: step.at)))


@given(st.lists(steps_of_a_curve, min_size=1, max_size=3))
def test_every_step_is_within_the_chart_and_none_goes_back(of):
    chart = Steps(
        "t", tuple(Curve(str(number), steps) for number, steps in enumerate(of)), T + dt.timedelta(hours=1_000)
    )
    for curve in chart.curves:
        drawn = [(kind, float(value)) for kind, value in re.findall(r"([MVH])([\d.]+)", chart.line(curve))]
        assert all(0 <= value <= (200 if kind == "V" else 1_000) for kind, value in drawn)
        across = [value for kind, value in drawn if kind != "V"]
        assert across == sorted(across)
        assert len([kind for kind, _ in drawn if kind == "H"]) == sum(step.price is not None for step in curve.steps)
        assert len(chart.on_sale(curve)) == sum(step.active is True for step in curve.steps)
    assert len(chart.rows()) == sum(map(len, of))


def test_a_line_is_interrupted_where_the_price_is_unknown():
    day = dt.timedelta(days=1)
    steps = (Step(T, Decimal(1), True), Step(T + day, None, None), Step(T + 2 * day, Decimal(3), False))
    chart = Steps("t", (Curve("ERP", steps),), T + 4 * day)
    assert chart.line(chart.curves[0]) == "M0.0 190.0H250.0M500.0 10.0H1000.0"
    assert chart.on_sale(chart.curves[0]) == [("0.0", "250.0")]
