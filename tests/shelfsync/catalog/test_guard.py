"""What the guards hold together: every field of a delta is released or held, never both, never neither; decisions are kept."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from catalog_rows import said
from catalog_strategies import shelves
from guard_cases import GOOD, case, reasons, split, store
from shelfsync.catalog.diff import diff
from shelfsync.catalog.guard import Slice, guard
from shelfsync.catalog.guards import GUARDS
from shelfsync.catalog.guards.case import Case, History
from shelfsync.columns import DELTA, FIELDS, HELD
from shelfsync.settings import GuardSettings
from shelfsync.settings.guards import RULES

SHARP = GuardSettings(
    **{rule: {"rows": 0, "share": 0.0} for rule in RULES},
)


@given(now=shelves(), before=shelves(), full=st.booleans(), repeats=st.sampled_from([None, "yesterday"]))
def test_every_field_of_a_delta_is_released_or_held_in_one_slice(now, before, full, repeats):
    delta = diff(now, before, full=full)
    verdict = guard(Case("v", delta, now, before, now.num_rows, SHARP, History((9, 9, 9), repeats, None)))
    wanted = said(delta)
    got: dict[str, dict] = {}
    for part in (*(one.rows for one in verdict.slices), verdict.released):
        assert part.schema == DELTA
        skus = part["sku"].to_pylist()
        assert skus == sorted(set(skus), key=str.encode)
        for sku, row in said(part).items():
            mine = got.setdefault(sku, {})
            alone = part is verdict.released and part.num_rows == 1
            assert not mine.keys() & (row.keys() - ({"active"} if alone else set())), "held twice, or held and released"
            mine.update(row)
    assert {sku: {k: v for k, v in row.items() if k in wanted.get(sku, {})} for sku, row in got.items()} == wanted
    assert verdict.held.schema == HELD
    assert verdict.held.num_rows == sum(one.rows.num_rows for one in verdict.slices)


@given(now=shelves(), before=shelves())
def test_what_was_approved_passes_and_what_was_rejected_stays_whatever_the_thresholds(now, before):
    delta = diff(now, before, full=False)
    first = guard(Case("v", delta, now, before, now.num_rows, SHARP))
    again = Case("v", delta, now, before, now.num_rows, SHARP)
    assert guard(again, approved=[one.rows for one in first.slices]).slices == ()
    lax = GuardSettings(**{rule: {"on": False} for rule in RULES})
    kept = guard(
        Case("v", delta, now, before, now.num_rows, lax),
        rejected=[Slice(one.rule, one.category, one.message, one.thresholds, one.rows, 7) for one in first.slices],
    )
    assert said(kept.held.select(DELTA.names)) == said(first.held.select(DELTA.names))
    assert {one.carried for one in kept.slices} <= {7}


def test_a_price_is_held_and_the_stop_sell_of_the_same_row_goes():
    before = store(range(100))
    now = before | {"S0007": {**GOOD, "price": "20.00", "quantity": 0, "active": False}}
    verdict = split(now, before)
    assert said(verdict.held) == {"S0007": {"price": Decimal("20.000")}}
    assert said(verdict.released) == {"S0007": {"quantity": 0, "active": False}}


def test_a_new_product_with_a_price_that_is_held_goes_not_at_all():
    before = store(range(100))
    verdict = split(before | {"T": {**GOOD, "price": "0"}}, before)
    assert said(verdict.held)["T"].keys() == {"price", "quantity", "active"}
    assert verdict.released.num_rows == 0


def _decided(verdict):
    return [Slice(one.rule, one.category, one.message, one.thresholds, one.rows, 7) for one in verdict.slices]


NEW = range(1000, 1060)
"""Sixty products that nobody has heard of, beside a hundred that are known."""


def test_new_products_that_nobody_let_in_stay_out_when_some_of_them_sell_at_the_counter():
    before = store(range(100))
    rejected = _decided(split(before | store(NEW), before))
    assert [(one.rule, one.rows.num_rows) for one in rejected] == [("new_skus", 60)]
    sold = before | store(NEW, quantity=lambda number: 9 if number < 1030 else 10)
    verdict = split(sold, before, rejected=rejected)
    assert verdict.released.num_rows == 0
    assert [(one.carried, one.rows.num_rows) for one in verdict.slices] == [(7, 60)], "it is the same decision still"
    assert {row["quantity"] for row in verdict.held.to_pylist()} == {9, 10}
    shut = before | store(NEW, active=False)
    assert split(shut, before, rejected=rejected).released.num_rows == 0


def test_a_new_product_that_nobody_let_in_is_asked_about_again_with_another_price_and_goes_when_it_is_approved():
    before = store(range(100))
    rejected = _decided(split(before | store(NEW), before))
    dearer = before | store(NEW, price=lambda number: "3.10" if number < 1003 else "2.00")
    verdict = split(dearer, before, rejected=rejected)
    assert verdict.released.num_rows == 0
    assert [(one.rule, one.carried, one.rows.num_rows) for one in verdict.slices] == [
        ("new_skus", 7, 57),
        ("new_skus", None, 3),
    ]
    off = GuardSettings(new_skus={"on": False})
    assert reasons(split(dearer, before, rejected=rejected, limits=off)) == {"new_skus": 57}, "no rule, no new question"
    approved = [verdict.slices[1].rows]
    released = split(dearer, before, rejected=rejected, approved=approved).released
    assert said(released).keys() == {"S1000", "S1001", "S1002"}
    assert all(row.keys() == {"price", "quantity", "active"} for row in said(released).values())


def test_a_new_product_with_a_price_that_was_held_goes_whole_when_the_price_is_right():
    before = store(range(100))
    rejected = _decided(split(before | {"T": {**GOOD, "price": "0"}}, before))
    sold = split(before | {"T": {**GOOD, "price": "0", "quantity": 9}}, before, rejected=rejected)
    assert sold.released.num_rows == 0, "one that was sold at the counter does not put it on sale at another price"
    right = split(before | {"T": {**GOOD, "price": "2.40", "quantity": 9}}, before, rejected=rejected)
    assert right.slices == ()
    assert said(right.released) == {"T": {"price": Decimal("2.400"), "quantity": 9, "active": True}}


def test_approved_new_products_go_with_the_quantity_they_have_by_now():
    before = store(range(100))
    (one,) = split(before | store(NEW), before).slices
    verdict = split(before | store(NEW, quantity=9), before, approved=[one.rows])
    assert verdict.slices == ()
    assert verdict.released.num_rows == 60


def test_approved_new_products_that_have_another_price_by_now_are_asked_about_again_whole():
    before = store(range(100))
    (one,) = split(before | store(NEW), before).slices
    for quantity in (10, 9):
        verdict = split(before | store(NEW, quantity=quantity, price="25.00"), before, approved=[one.rows])
        assert verdict.released.num_rows == 0
        assert reasons(verdict) == {"new_skus": 60}
        assert all(row.keys() == {"price", "quantity", "active"} for row in said(verdict.held).values())
    shut = split(before | store(NEW, quantity=9, active=False), before, approved=[one.rows])
    assert shut.released.num_rows in {0, 60}, "never a product without its price"
    assert all(row.keys() == {"price", "quantity", "active"} for row in said(shut.released).values())


def test_an_ordinary_delta_is_released_whole():
    before = store(range(1000))
    now = before | store(range(120), price="1.80") | store(range(200, 230), quantity=0)
    verdict = split(now, before)
    assert verdict.slices == ()
    assert verdict.released.num_rows == 150


def test_what_a_person_approved_is_not_asked_about_again_while_the_value_stays():
    before = store(range(100))
    now = before | {"S0001": {**GOOD, "price": "20.00"}, "S0002": {**GOOD, "price": "0.20"}}
    first = split(now, before)
    (one,) = first.slices
    assert split(now, before, approved=[one.rows]).slices == ()
    other = now | {"S0001": {**GOOD, "price": "21.00"}}
    assert said(split(other, before, approved=[one.rows]).held) == {"S0001": {"price": Decimal("21.000")}}


def test_the_reason_told_is_the_one_that_says_most():
    before = store(range(100))
    verdict = split(store(range(20)), before, history=History((100, 100, 100), "2026-01-01 00:00:00 UTC"))
    assert list(reasons(verdict)) == ["duplicate_feed"]


def test_every_rule_has_thresholds_and_a_guard():
    assert set(RULES) == set(GUARDS)


def test_fields_are_all_the_ways_a_row_can_be_held():
    assert {
        field for one in split(store(range(5)), store(range(100))).slices for field in one.rows.column_names
    } >= set(FIELDS)
    assert case(store(range(5)), store(range(100))).removed.true_count == 95
