"""What a word about a slice has to do with a delta: what it let through is for once, and nothing beside it is touched."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from catalog_rows import said
from catalog_strategies import shelves
from shelfsync.catalog.decision import beside, pending
from shelfsync.catalog.diff import apply, diff
from shelfsync.columns import DELTA, FIELDS


@given(now=shelves(), before=shelves(), full=st.booleans(), share=st.integers(1, 3))
def test_a_delta_is_a_slice_and_what_is_beside_it(now, before, full, share):
    delta = diff(now, before, full=full)
    held = delta.slice(0, delta.num_rows // share)
    rest = beside(delta, held)
    assert rest.schema == DELTA
    wanted, mine = said(delta), said(held)
    for sku, row in said(rest).items():
        assert not {name for name in FIELDS if name in row and name in mine.get(sku, {})}
        assert {name: row.get(name, mine.get(sku, {}).get(name)) for name in wanted[sku]} == wanted[sku]


@given(now=shelves(), before=shelves(), full=st.booleans())
def test_an_approval_has_work_to_do_until_the_baseline_has_its_values(now, before, full):
    delta = diff(now, before, full=False)
    if delta.num_rows:
        assert pending(diff(now, before, full=full), before, delta)
    moved = apply(delta, before)
    assert not pending(diff(now, moved, full=full), moved, delta)


@given(now=shelves(), before=shelves())
def test_an_approval_of_values_that_the_erp_takes_back_has_nothing_to_do(now, before):
    delta = diff(now, before, full=False)
    assert not pending(diff(before, before, full=True), before, delta)
