"""A bar is as long as its share, is seen if it is not zero, and never leaves the chart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shelfsync.pages.charts import LABEL_MAX, Bar, Bars

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
