"""What holds of a restored snapshot, for any snapshot and any acknowledged state."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.catalog.restore import RESTORED, overlay
from shelfsync.schemas import SNAPSHOT

_VALUES = st.fixed_dictionaries(
    {
        "price": st.none() | st.decimals(0, 99, places=3),
        "quantity": st.none() | st.integers(0, 9),
        "active": st.none() | st.booleans(),
        "max_sales_quantity": st.none() | st.integers(0, 9),
    }
)
_STATES = st.dictionaries(st.text("abcdéz", min_size=1, max_size=2), _VALUES, max_size=8)


def _table(state: dict) -> pa.Table:
    rows = [{"sku": sku, "barcode": None, **values} for sku, values in state.items()]
    return pa.Table.from_pylist(sorted(rows, key=lambda row: row["sku"].encode()), schema=SNAPSHOT)


@given(_STATES, _STATES)
def test_what_the_past_knows_is_wanted_and_the_rest_is_the_erps(now, past):
    wanted = {row["sku"]: row for row in overlay(_table(now), _table(past)).to_pylist()}
    back = {sku for sku, values in past.items() if values["active"] and sku not in now}
    assert wanted.keys() == now.keys() | back
    for sku, row in wanted.items():
        for name in RESTORED:
            then = past.get(sku, {}).get(name)
            assert row[name] == (then if then is not None else now.get(sku, {}).get(name))
        assert row["quantity"] == now.get(sku, {}).get("quantity"), "a restoration never restores stock"


@given(_STATES, _STATES)
def test_a_restored_snapshot_is_a_snapshot(now, past):
    wanted = overlay(_table(now), _table(past))
    skus = wanted["sku"].to_pylist()
    assert wanted.schema.equals(SNAPSHOT)
    assert skus == sorted(set(skus), key=str.encode)
    assert overlay(wanted, _table(past)).equals(wanted), "laid on twice is laid on once"


@given(_STATES, _STATES, st.lists(st.sampled_from(["a", "b", "zz"])))
def test_only_the_skus_that_were_named_are_restored(now, past, named):
    wanted = {row["sku"]: row for row in overlay(_table(now), _table(past), pa.array(named, pa.string())).to_pylist()}
    untouched = {row["sku"]: row for row in _table(now).to_pylist() if row["sku"] not in named}
    assert {sku: row for sku, row in wanted.items() if sku not in named} == untouched
