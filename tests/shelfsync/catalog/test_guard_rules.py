"""Each guard at its threshold: what is released, what is held, and which other rows it does not touch."""

from __future__ import annotations

import pytest

from guard_cases import CATEGORIES, GOOD, reasons, split, store
from shelfsync.catalog.guard_case import History
from shelfsync.settings import GuardSettings

BEFORE = store(range(1000))


def limits(**rules):
    return GuardSettings(**rules)


@pytest.mark.parametrize(("missing", "held"), [(299, {}), (300, {}), (301, {"mass_removal": 301})])
def test_removals_are_held_from_the_first_above_the_share(missing, held):
    off = limits(vanished_category={"enabled": False})
    assert reasons(split(store(range(missing, 1000)), BEFORE, limits=off)) == held


def test_a_share_is_meant_as_it_is_written():
    tight = limits(mass_removal={"max_share": 0.29})  # 0.29 * 100 is 28.999999999999996 in binary
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


def test_the_message_of_a_hold_names_the_numbers_and_the_setting():
    (one,) = split(store(range(500)), BEFORE).held_changes
    assert "500 of 1000 SKUs on sale are missing" in one.message
    assert "SHELFSYNC_GUARDS__MASS_REMOVAL__MAX_ROWS" in one.message
    assert one.thresholds == {"max_rows": 5, "max_share": 0.3, "enabled": True}


def test_switching_many_off_is_held_and_few_is_not():
    assert reasons(split(BEFORE | store(range(300), active=False), BEFORE)) == {}
    assert reasons(split(BEFORE | store(range(301), active=False), BEFORE)) == {"mass_deactivation": 301}


def test_switching_off_and_leaving_are_added_up():
    now = store(range(200, 1000)) | store(range(300, 450), active=False)
    assert reasons(split(now, BEFORE)) == {"mass_deactivation": 350}


def test_few_that_are_switched_off_go_while_many_removals_wait():
    now = store(range(400, 1000)) | store(range(500, 503), active=False)
    verdict = split(now, BEFORE)
    assert reasons(verdict) == {"mass_removal": 400}
    assert verdict.released.num_rows == 3


def test_what_was_off_already_counts_for_nothing():
    before = store(range(1000), active=False)
    assert reasons(split(store(range(100), active=False), before, full=True)) == {}


def test_an_extract_that_leaves_nothing_on_sale_is_held_however_small_the_store():
    before = store(range(8))
    assert reasons(split(store(range(8), active=False), before)) == {"empty_feed": 8}
    assert reasons(split(store(range(8), quantity=0), before)) == {"empty_feed": 8}
    assert reasons(split(store(range(4), quantity=0), store(range(4)))) == {}, "four products can be sold out"


def test_a_category_that_vanishes_is_held_and_the_rest_flows():
    now = {sku: row for sku, row in BEFORE.items() if row["category"] != "dairy"} | {
        "S0001": {**GOOD, "price": "2.10", "category": CATEGORIES[1]}
    }
    verdict = split(now, BEFORE)
    assert reasons(verdict) == {"vanished_category dairy": 200}
    assert verdict.released["sku"].to_pylist() == ["S0001"]


@pytest.mark.parametrize("how", [{"active": False}, {"quantity": 0}])
def test_a_category_may_vanish_by_being_switched_off_or_sold_out(how):
    now = BEFORE | {sku: {**row, **how} for sku, row in BEFORE.items() if row["category"] == "drinks"}
    assert reasons(split(now, BEFORE)) == {"vanished_category drinks": 200}


def test_what_was_sold_out_already_is_no_part_of_a_category_that_vanishes():
    before = store(range(500), quantity=lambda number: 0 if number % 2 else 10)  # 100 drinks, 50 of them on sale
    off = {sku: {**row, "active": False} for sku, row in before.items() if row["category"] == "drinks"}
    unseen = {sku: row for sku, row in off.items() if row["quantity"] == 0}
    assert reasons(split(before | unseen, before)) == {}, "no customer sees a difference"
    verdict = split(before | off, before)
    assert reasons(verdict) == {"vanished_category drinks": 100}, "switched off together, held together"
    (held,) = verdict.held_changes
    assert held.message.startswith("category drinks: 50 of 50 SKUs on sale go off at once")


def test_without_categories_nothing_vanishes():
    before = store(range(1000), category=None)
    now = {sku: row for sku, row in before.items() if int(sku[1:]) % 5}
    assert reasons(split(now, before)) == {}


def test_zero_stock_over_the_store_is_held_and_prices_go():
    now = store(range(1000), quantity=lambda number: 0 if number < 400 else 10, price="2.10")
    verdict = split(now, BEFORE, limits=limits(mass_repricing={"enabled": False}))
    assert reasons(verdict) == {"zero_stock": 400}
    assert verdict.released.num_rows == 1000
    assert verdict.released["quantity"].null_count == 1000


@pytest.mark.parametrize(
    ("quantity", "at_buffer", "held"),
    [
        (1, "activates", {"empty_feed": 1000}),
        (3, "activates", {}),
        (3, "deactivates", {"empty_feed": 1000}),
        (4, "deactivates", {}),
    ],
)
def test_stock_below_the_sales_buffer_is_no_stock(quantity, at_buffer, held):
    before = store(range(1000), sales_buffer=3)
    now = store(range(1000), sales_buffer=3, quantity=quantity)
    assert reasons(split(now, before, at_buffer=at_buffer)) == held
    options = {"at_buffer": at_buffer, "limits": limits(vanished_category={"enabled": False})}
    assert reasons(split(now | {"T": GOOD}, before, **options)) == (held and {"zero_stock": 1000})


def test_a_category_that_falls_below_its_sales_buffer_has_vanished():
    before = store(range(1000), sales_buffer=3)
    sweets = {sku: {**row, "quantity": 2} for sku, row in before.items() if row["category"] == "sweets"}
    assert reasons(split(before | sweets, before)) == {"vanished_category sweets": 200}


def test_what_was_below_its_sales_buffer_already_does_not_sell_out():
    before = store(range(1000), sales_buffer=3, quantity=lambda number: 10 if number < 100 else 1)
    now = store(range(1000), sales_buffer=3, quantity=lambda number: 10 if number < 50 else 0)
    assert reasons(split(now, before)) == {"zero_stock": 50}, "half of the hundred that were in stock"
    with_buffer = store(range(1000), sales_buffer=3, quantity=lambda number: 2 if number < 500 else 10)
    before = store(range(1000), quantity=lambda number: 1 if number < 500 else 10)
    assert reasons(split(with_buffer, before)) == {}, "the buffer is new, the products were off before"


def test_what_sells_out_in_a_quarter_of_an_hour_flows():
    assert reasons(split(BEFORE | store(range(60), quantity=0), BEFORE)) == {}


def test_one_price_of_zero_is_held():
    assert reasons(split(BEFORE | store(range(1), price="0"), BEFORE)) == {"zero_price": 1}
    assert reasons(split(store(range(9), price="0"), store(range(9), price="0"), full=True)) == {}, "it is zero already"


@pytest.mark.parametrize("price", ["20.00", "0.20", "200.00", "0.02", "18.90", "2000.00"])
def test_one_price_whose_point_has_slipped_is_held(price):
    assert reasons(split(BEFORE | store(range(1), price=price), BEFORE)) == {"shifted_decimal": 1}


@pytest.mark.parametrize("price", ["1.00", "3.50", "2.70", "16.00", "0.26"])
def test_one_price_that_moves_far_but_not_absurdly_flows(price):
    assert reasons(split(BEFORE | store(range(1), price=price), BEFORE)) == {}


@pytest.mark.parametrize("price", ["16.01", "0.24", "60.00"])
def test_one_price_that_leaps_is_held(price):
    assert reasons(split(BEFORE | store(range(1), price=price), BEFORE)) == {"price_change": 1}


def test_many_prices_that_move_by_more_than_35_percent_are_held_and_those_that_move_less_go():
    now = BEFORE | store(range(21), price="1.20") | store(range(100, 150), price="1.40")
    verdict = split(now, BEFORE)
    assert reasons(verdict) == {"price_change": 21}
    assert verdict.released.num_rows == 50
    assert reasons(split(BEFORE | store(range(20), price="1.20"), BEFORE)) == {}


def test_a_currency_mixed_up_moves_every_price_by_little_and_is_held():
    assert reasons(split(store(range(1000), price="2.16"), BEFORE)) == {"mass_repricing": 1000}


def test_a_price_below_cost_is_held_once_and_no_more_when_it_is_acknowledged():
    now = BEFORE | store(range(1), price="1.40", cost="1.50")
    assert reasons(split(now, BEFORE)) == {"below_cost": 1}
    assert reasons(split(now, now, full=True)) == {}
    assert reasons(split(BEFORE | store(range(1), price="1.40", cost=None), BEFORE)) == {}
    (first,) = split(store(range(1), price="1.40", cost="1.50"), {}).held_changes
    assert first.message.startswith("1 SKUs get a price below their cost"), "of no SKU: there is nothing before it"


def test_many_new_products_are_held_and_the_first_sync_is_not():
    assert reasons(split(store(range(1300)), BEFORE)) == {"new_skus": 300}
    assert reasons(split(store(range(1250)), BEFORE)) == {}
    assert reasons(split(BEFORE, {})) == {}
    assert reasons(split(BEFORE, store(range(3)), history=History(first=True))) == {}, (
        "single SKUs were tried before it"
    )


def test_an_extract_far_smaller_than_the_last_ones_holds_what_it_lacks():
    usual = History(rows=(1000, 1001, 990, 1003))
    now = store(range(160, 1000)) | store(range(200, 205), price="2.10")
    verdict = split(now, BEFORE, history=usual)
    assert reasons(verdict) == {"shrunken_extract": 160}
    assert verdict.released.num_rows == 5
    assert reasons(split(store(range(100, 1000)), BEFORE, history=usual)) == {}
    assert reasons(split(now, BEFORE, history=History(rows=(1000,)))) == {}, "one extract is no habit"


def test_what_left_the_range_long_ago_does_not_make_an_accident_look_small():
    gone = store(range(1000, 3000), active=False)
    dearer = store(range(1000), price="2.16")
    assert reasons(split(dearer, BEFORE | gone)) == {"mass_repricing": 1000}
    assert reasons(split(store(range(400), quantity=0) | store(range(400, 1000)), BEFORE | gone)) == {"zero_stock": 400}


def test_a_smaller_extract_that_was_believed_is_what_is_usual_from_then_on():
    smaller = History(rows=(800, 1000, 1001, 990))
    assert reasons(split(store(range(3, 800)), store(range(800)), history=smaller)) == {}


def test_what_goes_off_sale_is_held_without_its_new_price():
    nothing_left = store(range(1000), quantity=0) | store(range(3), quantity=0, price="2.10")
    released = split(nothing_left, BEFORE).released.to_pylist()
    assert [(row["sku"], row["quantity"], row["active"]) for row in released] == [
        (f"S000{number}", None, None) for number in range(3)
    ]
    closed = store(range(600), active=False, price="2.10") | store(range(600, 1000))
    verdict = split(closed, BEFORE, limits=GuardSettings(mass_repricing={"enabled": False}))
    assert reasons(verdict) == {"mass_deactivation": 600}
    assert {(row["active"], row["quantity"]) for row in verdict.released.to_pylist()} == {(None, None)}


def test_yesterdays_file_again_is_held_whole():
    now = BEFORE | store(range(60), price="1.90") | store(range(100, 130), quantity=0)
    again = History(repeats="2026-01-01 03:07:00 UTC")
    verdict = split(now, BEFORE, history=again)
    assert reasons(verdict) == {"duplicate_feed": 90}
    assert "2026-01-01 03:07:00 UTC" in verdict.held_changes[0].message
    assert reasons(split(BEFORE | store(range(20), price="1.90"), BEFORE, history=again)) == {}, "few rows may go back"
    ended = History(repeats="2026-01-01 03:07:00 UTC", undone=frozenset(f"S{number:04d}" for number in range(100, 130)))
    assert reasons(split(now, BEFORE, history=ended)) == {"duplicate_feed": 60}, "the end of what was approved is news"


def test_a_vendor_may_have_thresholds_of_its_own():
    own = limits(
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
    own = limits(overrides={"*/dairy": {"price_change": {"max_rows": 0, "max_share": 0.1}}})
    now = BEFORE | {
        sku: {**row, "price": "1.20"} for sku, row in list(BEFORE.items())[:105] if row["category"] == "dairy"
    }
    assert reasons(split(now, BEFORE, limits=own)) == {"price_change dairy": 21}
    assert reasons(split(BEFORE | store(range(1, 5), price="1.20"), BEFORE, limits=own)) == {}


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        ({"v": {"no_such_rule": {}}}, "no_such_rule"),
        ({"v": {"new_skus": {"max_share": 2}}}, "max_share"),
        ({"v/c": {"new_skus": {"shares": 1}}}, "shares"),
    ],
)
def test_an_override_that_is_none_fails_when_settings_are_read(overrides, named):
    with pytest.raises(ValueError, match=named):
        GuardSettings(overrides=overrides)
