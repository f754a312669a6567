"""How a decision about a hold applies to a later delta: an approval holds once, and touches nothing but the held changes."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_rows import fields_by_sku, shelf, snapshot
from catalog_strategies import shelves
from shelfsync.catalog.decision import identity, pending, unseen, with_current_quantities, without_held
from shelfsync.catalog.delta import apply, compute_delta
from shelfsync.schemas import DELTA, FIELDS


@pytest.mark.slow
@given(now=shelves(), before=shelves(), full=st.booleans(), share=st.integers(1, 3))
def test_a_delta_is_the_held_changes_and_the_rest(now, before, full, share):
    delta = compute_delta(now, before, full=full)
    held = delta.slice(0, delta.num_rows // share)
    rest = without_held(delta, held)
    assert rest.schema == DELTA
    wanted, mine = fields_by_sku(delta), fields_by_sku(held)
    for sku, row in fields_by_sku(rest).items():
        assert not {name for name in FIELDS if name in row and name in mine.get(sku, {})}
        assert {name: row.get(name, mine.get(sku, {}).get(name)) for name in wanted[sku]} == wanted[sku]


@pytest.mark.slow
@given(now=shelves(), before=shelves(), full=st.booleans())
def test_an_approval_has_work_to_do_until_the_baseline_has_its_values(now, before, full):
    delta = compute_delta(now, before, full=False)
    if delta.num_rows:
        assert pending(compute_delta(now, before, full=full), before, delta)
    moved = apply(delta, before)
    assert not pending(compute_delta(now, moved, full=full), moved, delta)


@pytest.mark.slow
@given(now=shelves(), before=shelves())
def test_an_approval_of_values_that_the_erp_takes_back_has_nothing_to_do(now, before):
    delta = compute_delta(now, before, full=False)
    assert not pending(compute_delta(before, before, full=True), before, delta)


ROW = {"sku": "a", "price": "2.50", "quantity": 10, "active": True, "max_sales_quantity": None}
OTHER = {"sku": "b", "price": "1.00", "quantity": 5, "active": True}


def _new(**values):
    """The delta of one new product and one known product."""
    return compute_delta(snapshot({**ROW, **values}, OTHER), shelf({**OTHER, "quantity": 4}), full=False)


@pytest.mark.slow
@given(now=shelves(), before=shelves(), shown=shelves(), unreadable=shelves(), complete=st.booleans())
def test_a_declined_row_stays_as_long_as_an_extract_does_not_show_its_sku_and_does_not_prove_it_gone(
    now, before, shown, unreadable, complete
):
    declined = compute_delta(now, before, full=True)
    quarantined = pa.concat_arrays([unreadable["sku"].combine_chunks(), pa.array([None], pa.string())])
    rows = unseen(declined, shown["sku"].combine_chunks(), quarantined, complete=complete)
    absent = set(declined["sku"].to_pylist()) - set(shown["sku"].to_pylist())
    assert set(rows["sku"].to_pylist()) == (absent & set(unreadable["sku"].to_pylist()) if complete else absent)
    assert [row for row in declined.to_pylist() if row in rows.to_pylist()] == rows.to_pylist()


@given(quantity=st.integers(0, 1000))
def test_the_quantity_of_a_new_product_is_not_part_of_the_identity(quantity):
    assert identity(_new(quantity=quantity)) == identity(_new())


@pytest.mark.parametrize("values", [{"price": "2.51"}, {"active": False}, {"max_sales_quantity": 2}, {"sku": "c"}])
def test_every_other_field_of_a_new_product_is_part_of_the_identity(values):
    assert identity(_new(**values)) != identity(_new())


def test_the_quantity_of_a_known_product_is_part_of_the_identity():
    before = shelf(ROW)
    ten, nine = (compute_delta(snapshot({**ROW, "quantity": left}), before, full=False) for left in (0, 9))
    assert identity(ten) != identity(nine)


@pytest.mark.slow
@given(now=shelves(), before=shelves())
def test_an_identity_does_not_depend_on_the_pieces_that_a_table_came_in(now, before):
    delta = compute_delta(now, before, full=False)
    pieces = pa.concat_tables([delta.slice(0, 1), delta.slice(1)])
    assert identity(pieces) == identity(delta)


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
