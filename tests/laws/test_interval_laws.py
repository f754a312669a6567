"""What holds of learned intervals for any history: with a buffer that stays, they never lie, and sparing by them shows nobody anything else."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from catalog_rows import shelf
from shelfsync.catalog.effect import INTERVAL
from shelfsync.catalog.interval import learn
from shelfsync.columns import OBSERVED

BUFFERS = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 9), min_size=1)
TOLD = st.dictionaries(st.sampled_from("abcdef"), st.tuples(st.integers(0, 12), st.sampled_from([None, True, False])))


def pictured(told, buffers):
    rows = [
        {"sku": sku, "active": flag is not False and pieces >= buffers[sku]}
        for sku, (pieces, flag) in sorted(told.items())
        if sku in buffers
    ]
    return pa.Table.from_pylist(rows, schema=OBSERVED)


def baseline(told):
    return shelf(*({"sku": sku, "quantity": pieces, "active": flag} for sku, (pieces, flag) in sorted(told.items())))


@given(BUFFERS, st.lists(TOLD, max_size=6))
def test_a_buffer_that_stays_lies_between_what_was_seen_off_and_on(buffers, history):
    known = INTERVAL.empty_table()
    for told in history:
        known = learn(known, baseline(told), pictured(told, buffers))
    assert known.schema == INTERVAL
    assert known["sku"].to_pylist() == sorted(set(known["sku"].to_pylist()))
    for row in known.to_pylist():
        buffer = buffers[row["sku"]]
        assert row["off_max"] is None or row["off_max"] < buffer
        assert row["on_min"] is None or row["on_min"] >= buffer


@given(BUFFERS, st.lists(TOLD, max_size=4))
def test_the_same_picture_again_teaches_nothing(buffers, history):
    known = INTERVAL.empty_table()
    for told in history:
        known = learn(known, baseline(told), pictured(told, buffers))
        assert learn(known, baseline(told), pictured(told, buffers)).equals(known)


@given(BUFFERS, BUFFERS, TOLD, TOLD)
def test_after_a_buffer_has_moved_the_newest_picture_is_never_contradicted(buffers, moved, before, after):
    known = learn(INTERVAL.empty_table(), baseline(before), pictured(before, buffers))
    seen = pictured(after, moved)
    known = {row["sku"]: row for row in learn(known, baseline(after), seen).to_pylist()}
    for row in seen.to_pylist():
        pieces, flag = after[row["sku"]]
        if flag is False:
            continue
        learned = known[row["sku"]]
        if row["active"]:
            assert learned["on_min"] <= pieces
            assert learned["off_max"] is None or learned["off_max"] < pieces
        else:
            assert learned["off_max"] >= pieces
            assert learned["on_min"] is None or learned["on_min"] > pieces


@given(BUFFERS, TOLD)
def test_nothing_is_learned_of_what_is_unsure_switched_off_or_not_shown(buffers, told):
    unsure = pa.array(sorted(told)[:2], pa.string())
    known = learn(INTERVAL.empty_table(), baseline(told), pictured(told, buffers), unsure=[unsure])
    taught = {sku for sku, (_, flag) in told.items() if flag is not False and sku in buffers}
    assert set(known["sku"].to_pylist()) == taught - set(unsure.to_pylist())
