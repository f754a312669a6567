"""An approval holds once, and touches nothing but the held changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_rows import fields_by_sku, shelf, snapshot
from catalog_strategies import shelves
from shelfsync.catalog.baseline import with_delta_applied
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.guards.approved_values import pending, with_current_quantities

ROW = {"sku": "a", "price": "2.50", "quantity": 10, "active": True, "max_sales_quantity": None}
OTHER = {"sku": "b", "price": "1.00", "quantity": 5, "active": True}


def _new(**values):
    """The delta of one new product and one known product."""
    return compute_delta(snapshot({**ROW, **values}, OTHER), shelf({**OTHER, "quantity": 4}), full=False)


@pytest.mark.slow
@given(now=shelves(), before=shelves(), full=st.booleans())
def test_an_approval_has_work_to_do_until_the_baseline_has_its_values(now, before, full):
    delta = compute_delta(now, before, full=False)
    if delta.num_rows:
        assert pending(compute_delta(now, before, full=full), before, delta)
    moved = with_delta_applied(delta, before)
    assert not pending(compute_delta(now, moved, full=full), moved, delta)


@pytest.mark.slow
@given(now=shelves(), before=shelves())
def test_an_approval_of_values_that_the_erp_takes_back_has_nothing_to_do(now, before):
    delta = compute_delta(now, before, full=False)
    assert not pending(compute_delta(before, before, full=True), before, delta)


@pytest.mark.slow
@given(now=shelves(), before=shelves())
def test_with_current_quantities_leaves_an_approval_of_the_same_delta_unchanged(now, before):
    delta = compute_delta(now, before, full=False)
    assert fields_by_sku(with_current_quantities(delta, delta)) == fields_by_sku(delta)


def test_an_approval_gets_the_current_quantity_only_if_no_other_field_has_changed():
    approved = _new()
    assert fields_by_sku(with_current_quantities(approved, _new(quantity=9)))["a"]["quantity"] == 9
    assert fields_by_sku(with_current_quantities(approved, _new(quantity=9, price="25.00")))["a"]["quantity"] == 10
    gone = compute_delta(snapshot(OTHER), shelf({**OTHER, "quantity": 4}), full=False)
    assert fields_by_sku(with_current_quantities(approved, gone)) == fields_by_sku(approved)
