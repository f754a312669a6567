"""The thresholds of the most specific place count: a store's category, then the category of every store, then the store."""

from __future__ import annotations

import pytest

from shelfsync.settings.guard_overrides import categories_of, overridden, thresholds_of
from shelfsync.settings.guard_thresholds import Rules

OVERRIDES = {
    "store-001": {"new_skus": {"max_rows": 500}, "price_change": {"move": 0.5}},
    "*/tobacco": {"price_change": {"move": 0.1}},
    "store-001/tobacco": {"price_change": {"max_rows": 1}},
    "store-002/dairy": {"price_change": {"move": 0.2}},
}


def test_the_most_specific_threshold_counts_and_the_others_stay():
    plain = Rules()
    assert thresholds_of(OVERRIDES, plain, "store-003", None) == plain
    store = thresholds_of(OVERRIDES, plain, "store-001", None)
    assert (store.new_skus.max_rows, store.price_change.move) == (500, 0.5)
    category = thresholds_of(OVERRIDES, plain, "store-001", "tobacco").price_change
    assert (category.move, category.max_rows, category.max_share) == (0.1, 1, 0.02)
    assert thresholds_of(OVERRIDES, plain, "store-002", "tobacco").price_change.move == 0.1


def test_a_category_with_thresholds_of_its_own_is_judged_by_itself():
    assert categories_of(OVERRIDES, "price_change", "store-001") == ["tobacco"]
    assert categories_of(OVERRIDES, "price_change", "store-002") == ["dairy", "tobacco"]
    assert categories_of(OVERRIDES, "new_skus", "store-001") == []


@pytest.mark.parametrize(
    ("given", "why"),
    [({"lost": {}}, "there is no rule 'lost'"), ({"new_skus": {"max_share": 2}}, r"new_skus\.max_share: ")],
)
def test_what_is_no_threshold_is_named_with_its_place(given, why):
    with pytest.raises(ValueError, match=why):
        overridden({"store-001": given}, "store-001", Rules())
