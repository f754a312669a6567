"""A declined value stays held while the ERP may have it."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_strategies import shelves
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.guards.declined_values import unseen


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
