"""Which row of one table belongs to which row of another: the quick ways give what a look-up of every SKU gives."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shelfsync.rows.alignment import merged, picked, positions, unmentioned

TEXTS = st.sets(st.text(st.characters(codec="utf-8"), max_size=3), max_size=30)


def ordered(texts):
    """The texts in byte order."""
    return pa.array(sorted(texts, key=str.encode), pa.string())


def looked_up(skus, among):
    return pc.index_in(skus, value_set=among).to_pylist()


def some(skus, share, seed):
    """A part of the SKUs, in their order."""
    return skus.filter(pa.array(np.random.default_rng(seed).random(len(skus)) < share))


@given(TEXTS, TEXTS)
@example(set(), {"a"})
@example({"a"}, set())
@example({"", "\ud7ff", "\ue000", "\U00010000"}, {"\ue000", "\U00010000", "a"})
def test_every_sku_is_where_a_look_up_finds_it(one, other):
    skus, among = ordered(one), ordered(other)
    assert positions(skus, among).to_pylist() == looked_up(skus, among)


@pytest.mark.parametrize("share", [0.001, 0.24, 0.26, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("other_share", [0.01, 0.5, 0.97, 0.999, 1.0])
def test_many_skus_are_too_whatever_came_and_left(share, other_share):
    every = ordered(f"{number * 7919 % 100_003}" for number in range(3_000))
    for cut in (0, 1, 700):
        skus, among = some(every, share, 1)[cut // 2 :], some(every, other_share, 2)[cut:]
        found = positions(skus, among)
        found.validate(full=True)
        assert found.to_pylist() == looked_up(skus, among)


@given(st.lists(st.sampled_from("abcdefgh")), st.permutations("abcdef"))
def test_skus_that_repeat_or_have_no_order_are_found_too(skus, among):
    skus, among = pa.array(skus, pa.string()), pa.array(among, pa.string())
    assert positions(skus, among).to_pylist() == looked_up(skus, among)


@given(TEXTS, TEXTS)
def test_the_rows_that_no_sku_refers_to_are_those_of_the_other_skus(one, other):
    skus, among = ordered(one), ordered(other)
    without = unmentioned(positions(skus, among), len(among))
    assert among.filter(without).to_pylist() == [sku for sku in among.to_pylist() if sku not in one]


@given(TEXTS, TEXTS)
def test_two_tables_are_merged_in_order(one, other):
    first, second = (pa.table({"sku": ordered(texts)}) for texts in (one, other - one))
    both = merged(
        first.append_column("of", pa.repeat(0, len(first))), second.append_column("of", pa.repeat(1, len(second)))
    )
    assert both["sku"].to_pylist() == ordered(one | other).to_pylist()
    assert [row["of"] == 0 for row in both.to_pylist()] == [row["sku"] in one for row in both.to_pylist()]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_rows_are_picked_as_a_filter_does(share):
    rows = pa.array(np.random.default_rng(3).random(1_000) < share)
    values = pa.array([None if number % 7 == 0 else str(number) for number in range(1_000)])
    assert picked(rows)(values).equals(values.filter(rows))
