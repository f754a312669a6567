"""How many rows a guard lets through, in a store, in a category and in a small store."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard_cases import BEFORE, reasons, split, store
from shelfsync.catalog.guards.over_threshold import always, over
from shelfsync.settings import GuardSettings
from shelfsync.settings.guard_thresholds import Limit


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


def test_a_share_is_meant_as_it_is_written():
    tight = GuardSettings(mass_removal={"max_share": 0.29})  # 0.29 * 100 is 28.999999999999996 in binary
    assert reasons(split(store(range(29, 100)), store(range(100)), limits=tight)) == {}


@pytest.mark.parametrize(("missing", "held"), [(5, {}), (6, {"mass_removal": 6})])
def test_a_handful_of_removals_always_flows(missing, held):
    assert reasons(split(store(range(missing, 10)), store(range(10)))) == held


@pytest.mark.parametrize(
    ("now", "before", "held"),
    [
        (store(range(20), quantity=0) | store([20]), store(range(21)), {"zero_stock": 20}),
        (store(range(10), quantity=0) | store(range(10, 21)), store(range(21)), {}),
        (store(range(10), active=False) | store([10]), store(range(11)), {"mass_deactivation": 10}),
        (store(range(10), price="9.80"), store(range(10)), {"price_change": 10}),
        (store(range(6), price="2.10"), store(range(6)), {"mass_repricing": 6}),
        (store(range(5), price="9.80"), store(range(5)), {}),
        (store(range(21)), store(range(1)), {}),
    ],
    ids=["sold out", "half", "off", "dearer", "a little dearer", "a handful", "new"],
)
def test_in_a_small_store_more_than_half_never_flows_by_itself_but_a_handful(now, before, held):
    assert reasons(split(now, before)) == held


def test_the_message_of_a_hold_of_a_small_store_names_how_many_rows_would_have_passed():
    (one,) = split(store(range(12), price="9.80"), store(range(12))).held_changes
    assert "lets up to 6 and up to a share of 0.02 through by itself" in one.message
    assert "half" in one.message
    (one,) = split(store(range(100), price="9.80"), store(range(100))).held_changes
    assert "lets up to 10 and up to a share of 0.02 through by itself" in one.message
    assert "half" not in one.message


def test_what_left_the_range_long_ago_does_not_make_an_accident_look_small():
    gone = store(range(1000, 3000), active=False)
    dearer = store(range(1000), price="2.16")
    assert reasons(split(dearer, BEFORE | gone)) == {"mass_repricing": 1000}
    assert reasons(split(store(range(400), quantity=0) | store(range(400, 1000)), BEFORE | gone)) == {"zero_stock": 400}


def test_a_vendor_may_have_thresholds_of_its_own():
    own = GuardSettings(
        overrides={
            "store-009": {
                rule: {"max_share": 0.9, "enabled": rule != "shifted_decimal"}
                for rule in ("mass_removal", "mass_deactivation", "shifted_decimal")
            }
        }
    )
    now = store(range(500, 1000)) | store(range(600, 601), price="20")
    assert reasons(split(now, BEFORE, limits=own, vendor="store-001")) == {"mass_removal": 500, "shifted_decimal": 1}
    assert reasons(split(now, BEFORE, limits=own, vendor="store-009")) == {"price_change": 1}


def test_a_category_may_have_thresholds_of_its_own_and_is_judged_by_itself():
    own = GuardSettings(overrides={"*/dairy": {"price_change": {"max_rows": 0, "max_share": 0.1}}})
    now = BEFORE | {
        sku: {**row, "price": "1.20"} for sku, row in list(BEFORE.items())[:105] if row["category"] == "dairy"
    }
    assert reasons(split(now, BEFORE, limits=own)) == {"price_change dairy": 21}
    assert reasons(split(BEFORE | store(range(1, 5), price="1.20"), BEFORE, limits=own)) == {}
