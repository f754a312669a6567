"""What the guards hold together: every field of a delta is released or held, never both, never neither; decisions are kept."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_rows import fields_by_sku
from catalog_strategies import shelves
from guard_cases import GOOD, case, reasons, split, store
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.guards.apply_guards import GUARDS, apply_guards
from shelfsync.catalog.guards.case import Case, History
from shelfsync.catalog.guards.held_changes import HeldChanges
from shelfsync.schemas import DELTA, FIELDS, HELD
from shelfsync.settings import GuardSettings
from shelfsync.settings.guard_thresholds import RULES

SHARP = GuardSettings(
    **{rule: {"max_rows": 0, "max_share": 0.0} for rule in RULES},
)


@pytest.mark.slow
@given(now=shelves(), before=shelves(), full=st.booleans(), repeats=st.sampled_from([None, "yesterday"]))
def test_every_field_of_a_delta_is_released_or_held_once(now, before, full, repeats):
    delta = compute_delta(now, before, full=full)
    verdict = apply_guards(Case("v", delta, now, before, now.num_rows, SHARP, History((9, 9, 9), repeats, None)))
    wanted = fields_by_sku(delta)
    got: dict[str, dict] = {}
    for part in (*(one.rows for one in verdict.held_changes), verdict.released):
        assert part.schema == DELTA
        skus = part["sku"].to_pylist()
        assert skus == sorted(set(skus), key=str.encode)
        for sku, row in fields_by_sku(part).items():
            mine = got.setdefault(sku, {})
            alone = part is verdict.released and part.num_rows == 1
            assert not mine.keys() & (row.keys() - ({"active"} if alone else set())), "held twice, or held and released"
            mine.update(row)
    assert {sku: {k: v for k, v in row.items() if k in wanted.get(sku, {})} for sku, row in got.items()} == wanted
    assert verdict.held.schema == HELD
    assert verdict.held.num_rows == sum(one.rows.num_rows for one in verdict.held_changes)


@pytest.mark.slow
@given(now=shelves(), before=shelves())
def test_what_was_approved_passes_and_what_was_declined_stays_whatever_the_thresholds(now, before):
    delta = compute_delta(now, before, full=False)
    first = apply_guards(Case("v", delta, now, before, now.num_rows, SHARP))
    again = Case("v", delta, now, before, now.num_rows, SHARP)
    assert apply_guards(again, approved=[one.rows for one in first.held_changes]).held_changes == ()
    lax = GuardSettings(**{rule: {"enabled": False} for rule in RULES})
    stays = apply_guards(
        Case("v", delta, now, before, now.num_rows, lax),
        declined=[
            HeldChanges(one.rule, one.category, one.message, one.thresholds, one.rows, 7) for one in first.held_changes
        ],
    )
    assert fields_by_sku(stays.held.select(DELTA.names)) == fields_by_sku(first.held.select(DELTA.names))
    assert {one.carried for one in stays.held_changes} <= {7}


def test_a_price_is_held_and_the_stop_sell_of_the_same_row_goes():
    before = store(range(100))
    now = before | {"S0007": {**GOOD, "price": "20.00", "quantity": 0, "active": False}}
    verdict = split(now, before)
    assert fields_by_sku(verdict.held) == {"S0007": {"price": Decimal("20.000")}}
    assert fields_by_sku(verdict.released) == {"S0007": {"quantity": 0, "active": False}}


def test_a_new_product_with_a_price_that_is_held_goes_not_at_all():
    before = store(range(100))
    verdict = split(before | {"T": {**GOOD, "price": "0"}}, before)
    assert fields_by_sku(verdict.held)["T"].keys() == {"price", "quantity", "active"}
    assert verdict.released.num_rows == 0


def _decided(verdict):
    return [
        HeldChanges(one.rule, one.category, one.message, one.thresholds, one.rows, 7) for one in verdict.held_changes
    ]


NEW = range(1000, 1060)
"""Sixty new products and a hundred known ones."""


def test_declined_new_products_stay_held_when_some_of_them_sell_at_the_counter():
    before = store(range(100))
    declined = _decided(split(before | store(NEW), before))
    assert [(one.rule, one.rows.num_rows) for one in declined] == [("new_skus", 60)]
    sold = before | store(NEW, quantity=lambda number: 9 if number < 1030 else 10)
    verdict = split(sold, before, declined=declined)
    assert verdict.released.num_rows == 0
    assert [(one.carried, one.rows.num_rows) for one in verdict.held_changes] == [(7, 60)], (
        "it is the same decision still"
    )
    assert {row["quantity"] for row in verdict.held.to_pylist()} == {9, 10}
    shut = before | store(NEW, active=False)
    assert split(shut, before, declined=declined).released.num_rows == 0


def test_a_declined_new_product_is_held_anew_at_another_price_and_released_when_approved():
    before = store(range(100))
    declined = _decided(split(before | store(NEW), before))
    dearer = before | store(NEW, price=lambda number: "3.10" if number < 1003 else "2.00")
    verdict = split(dearer, before, declined=declined)
    assert verdict.released.num_rows == 0
    assert [(one.rule, one.carried, one.rows.num_rows) for one in verdict.held_changes] == [
        ("new_skus", 7, 57),
        ("new_skus", None, 3),
    ]
    off = GuardSettings(new_skus={"enabled": False})
    assert reasons(split(dearer, before, declined=declined, limits=off)) == {"new_skus": 57}, "no rule, no new question"
    approved = [verdict.held_changes[1].rows]
    released = split(dearer, before, declined=declined, approved=approved).released
    assert fields_by_sku(released).keys() == {"S1000", "S1001", "S1002"}
    assert all(row.keys() == {"price", "quantity", "active"} for row in fields_by_sku(released).values())


def test_a_new_product_with_a_price_that_was_held_goes_whole_when_the_price_is_right():
    before = store(range(100))
    declined = _decided(split(before | {"T": {**GOOD, "price": "0"}}, before))
    sold = split(before | {"T": {**GOOD, "price": "0", "quantity": 9}}, before, declined=declined)
    assert sold.released.num_rows == 0, "one that was sold at the counter does not put it on sale at another price"
    right = split(before | {"T": {**GOOD, "price": "2.40", "quantity": 9}}, before, declined=declined)
    assert right.held_changes == ()
    assert fields_by_sku(right.released) == {"T": {"price": Decimal("2.400"), "quantity": 9, "active": True}}


def test_approved_new_products_go_with_the_quantity_they_have_by_now():
    before = store(range(100))
    (one,) = split(before | store(NEW), before).held_changes
    verdict = split(before | store(NEW, quantity=9), before, approved=[one.rows])
    assert verdict.held_changes == ()
    assert verdict.released.num_rows == 60


def test_approved_new_products_that_have_another_price_by_now_are_asked_about_again_whole():
    before = store(range(100))
    (one,) = split(before | store(NEW), before).held_changes
    for quantity in (10, 9):
        verdict = split(before | store(NEW, quantity=quantity, price="25.00"), before, approved=[one.rows])
        assert verdict.released.num_rows == 0
        assert reasons(verdict) == {"new_skus": 60}
        assert all(row.keys() == {"price", "quantity", "active"} for row in fields_by_sku(verdict.held).values())
    shut = split(before | store(NEW, quantity=9, active=False), before, approved=[one.rows])
    assert shut.released.num_rows in {0, 60}, "never a product without its price"
    assert all(row.keys() == {"price", "quantity", "active"} for row in fields_by_sku(shut.released).values())


def test_an_ordinary_delta_is_released_whole():
    before = store(range(1000))
    now = before | store(range(120), price="1.80") | store(range(200, 230), quantity=0)
    verdict = split(now, before)
    assert verdict.held_changes == ()
    assert verdict.released.num_rows == 150


def test_what_a_person_approved_is_not_asked_about_again_while_the_value_stays():
    before = store(range(100))
    now = before | {"S0001": {**GOOD, "price": "20.00"}, "S0002": {**GOOD, "price": "0.20"}}
    first = split(now, before)
    (one,) = first.held_changes
    assert split(now, before, approved=[one.rows]).held_changes == ()
    other = now | {"S0001": {**GOOD, "price": "21.00"}}
    assert fields_by_sku(split(other, before, approved=[one.rows]).held) == {"S0001": {"price": Decimal("21.000")}}


def test_the_reason_of_a_hold_is_that_of_the_first_rule():
    before = store(range(100))
    verdict = split(store(range(20)), before, history=History((100, 100, 100), "2026-01-01 00:00:00 UTC"))
    assert list(reasons(verdict)) == ["duplicate_feed"]


def test_every_rule_has_thresholds_and_a_guard():
    assert set(RULES) == set(GUARDS)


def test_fields_are_all_the_ways_a_row_can_be_held():
    assert {
        field for one in split(store(range(5)), store(range(100))).held_changes for field in one.rows.column_names
    } >= set(FIELDS)
    assert case(store(range(5)), store(range(100))).removed.true_count == 95
