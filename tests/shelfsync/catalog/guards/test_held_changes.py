"""By what held changes are recognised, and the delta without them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_rows import fields_by_sku, shelf, snapshot
from catalog_strategies import shelves
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.guards.held_changes import identity, without_held
from shelfsync.schemas import DELTA, FIELDS

ROW = {"sku": "a", "price": "2.50", "quantity": 10, "active": True, "max_sales_quantity": None}
OTHER = {"sku": "b", "price": "1.00", "quantity": 5, "active": True}


def _new(**values):
    """The delta of one new product and one known product."""
    return compute_delta(snapshot({**ROW, **values}, OTHER), shelf({**OTHER, "quantity": 4}), full=False)


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
