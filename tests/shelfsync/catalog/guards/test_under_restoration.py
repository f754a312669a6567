"""The state of a vendor without its restorations: the guards compare with it, and a revert to it is no accident."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_rows import shelf, snapshot
from catalog_strategies import shelves
from shelfsync.catalog.baseline import with_delta_applied
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.guards.apply_guards import apply_guards
from shelfsync.catalog.guards.case import Case, History
from shelfsync.catalog.guards.under_restoration import (
    UNRESTORED,
    as_unrestored,
    next_unrestored,
    with_unrestored,
    without_restorations,
)
from shelfsync.catalog.restore import RESTORED, overlay
from shelfsync.settings import GuardSettings
from shelfsync.settings.guard_thresholds import RULES

SHARP = GuardSettings(**{rule: {"max_rows": 0, "max_share": 0.0} for rule in RULES})
REPEATED = History((9, 9, 9), "yesterday", None)


def _case(now, before, history=REPEATED, limits=SHARP):
    delta = compute_delta(now, before, full=False)
    return Case("v", delta, now, before, now.num_rows, limits, history)


def _followed(case, erp, restorations, unrestored=None, limits=SHARP):
    plain = without_restorations(case, unrestored, erp, quarantined=None, complete=True, key="sku")
    assert plain.limits == limits
    return next_unrestored(case, unrestored, erp, apply_guards(plain).released, restorations)


@pytest.mark.slow
@given(erp=shelves(), past=shelves(), repeats=st.booleans())
def test_the_way_back_is_held_by_no_guard_whatever_was_restored(erp, past, repeats):
    acknowledged = with_delta_applied(compute_delta(erp, shelf(), full=True), shelf())
    wanted = overlay(erp, past)
    there = _case(wanted, acknowledged)
    unrestored = _followed(there, erp, [1])
    assert unrestored.schema == UNRESTORED
    shown = with_delta_applied(there.delta, acknowledged)
    back = as_unrestored(_case(erp, shown, REPEATED if repeats else History()), unrestored)
    assert _restorable(with_unrestored(shown, unrestored)).items() >= _restorable(acknowledged).items()
    assert apply_guards(back).held_changes == ()


def _restorable(table):
    """SKU and field -> value, of the fields that a restoration changes."""
    return {(row["sku"], name): row[name] for row in table.to_pylist() for name in RESTORED if row[name] is not None}


def _rows(table):
    return {
        (row["sku"], row["layer"]): {name: row[name] for name in RESTORED if row[name] is not None}
        for row in table.to_pylist()
    }


def _shelf(**prices):
    return shelf(*({"sku": sku, "price": price, "active": True} for sku, price in sorted(prices.items())))


def _erp(**prices):
    return snapshot(*({"sku": sku, "price": price, "active": True} for sku, price in sorted(prices.items())))


def test_only_what_a_restoration_changes_is_remembered_and_the_erp_moves_it():
    erp, base = _erp(a="6.00", b="2.00"), _shelf(a="6.00", b="2.00")
    first = _followed(_case(overlay(erp, _shelf(a="1.00", b="2.00")), base), erp, [1])
    assert _rows(first) == {("a", 0): {"price": Decimal("6.000")}}
    dearer, shown = _erp(a="6.50", b="2.00"), _shelf(a="1.00", b="2.00")
    lax = GuardSettings()
    case = _case(overlay(dearer, shown), shown, History(), lax)
    assert as_unrestored(case, first).reference["price"].to_pylist() == [Decimal("6.000"), Decimal("2.000")]
    assert _rows(_followed(case, dearer, [1], first, lax)) == {("a", 0): {"price": Decimal("6.500")}}
    slipped = _erp(a="600", b="2.00")
    assert _rows(_followed(_case(overlay(slipped, shown), shown, History(), lax), slipped, [1], first, lax)) == {
        ("a", 0): {"price": Decimal("6.000")}
    }, "what a guard would hold moves nothing"


def test_nothing_is_remembered_once_the_platform_has_the_values_of_the_erp():
    erp, first = _erp(a="6.00"), _followed(_case(_erp(a="1.00"), _shelf(a="6.00")), _erp(a="6.00"), [1])
    on_its_way = _followed(_case(erp, _shelf(a="1.00")), erp, [], first)
    assert _rows(on_its_way) == {("a", 0): {"price": Decimal("6.000")}}, "sent is not acknowledged"
    assert _followed(_case(erp, _shelf(a="6.00")), erp, [], on_its_way).num_rows == 0
    corrected = _erp(a="1.00")
    assert _followed(_case(corrected, _shelf(a="1.00")), corrected, [], first).num_rows == 0


def test_a_restoration_on_top_of_another_remembers_what_that_one_showed():
    erp = _erp(a="6.00")
    below = _followed(_case(_erp(a="1.00"), _shelf(a="6.00")), erp, [1])
    both = _followed(_case(_erp(a="2.00"), _shelf(a="1.00")), erp, [1, 2], below)
    assert _rows(both) == {("a", 0): {"price": Decimal("6.000")}, ("a", 2): {"price": Decimal("1.000")}}
    again = _followed(_case(_erp(a="2.00"), _shelf(a="2.00")), erp, [1, 2], both)
    assert _rows(again) == _rows(both)
    assert apply_guards(as_unrestored(_case(_erp(a="1.00"), _shelf(a="2.00")), again)).held_changes == ()
    assert _rows(_followed(_case(erp, _shelf(a="1.00")), erp, [], again)) == {("a", 0): {"price": Decimal("6.000")}}


def test_a_vendor_without_restorations_is_what_is_known_of_it():
    base = _shelf(a="6.00")
    assert with_unrestored(base, None) is base
    assert with_unrestored(base, pa.Table.from_pylist([], schema=UNRESTORED)) is base
