"""How many rows a guard lets through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.catalog.guard_thresholds import always, over
from shelfsync.settings.guards import Limit


@pytest.mark.parametrize(
    ("rule", "of", "flow"),
    [
        ("price_change", 10_000, 50),
        ("price_change", 60, 30),  # a small store: half of what there is
        ("price_change", 4, 5),  # and a handful of the smallest
        ("price_change", 0, 50),  # nothing to compare with: a first sync
        ("new_skus", 4, 50),  # a small store may double
    ],
)
def test_a_small_store_has_a_smaller_limit(rule, of, flow):
    assert always(rule, Limit(max_rows=50, max_share=0.1), of) == flow


@given(st.integers(0, 500), st.integers(0, 1000), st.decimals(0, 1, places=3), st.integers(0, 1000))
def test_a_guard_holds_what_is_more_than_both_limits_and_a_disabled_one_nothing(max_rows, number, share, of):
    limit = Limit(max_rows=max_rows, max_share=float(share))
    assert over("new_skus", limit, number, of) == (number > max_rows and number * 1000 > int(share * 1000) * of)
    assert not over("new_skus", limit.model_copy(update={"enabled": False}), number, of)
