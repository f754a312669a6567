"""The digest of a vendor's rows: another text anywhere is another digest, and nothing else is."""

from __future__ import annotations

import itertools

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shelfsync.rows.digest import COLUMNS, digest_of
from shelfsync.schemas import RAW

TEXTS = st.none() | st.text(max_size=3)
ROWS = st.lists(st.tuples(*(TEXTS for _ in COLUMNS)), max_size=6)


def raw(rows, first=1):
    """Rows of an extract, from a place in it on."""
    return pa.Table.from_pylist(
        [{"row_number": first + place, **dict(zip(COLUMNS, row, strict=True))} for place, row in enumerate(rows)], RAW
    )


def test_every_column_but_the_place_is_part_of_it():
    assert {*COLUMNS, "row_number"} == set(RAW.names)


@settings(max_examples=40)
@given(ROWS, ROWS)
def test_two_readings_have_one_digest_exactly_if_they_have_the_same_rows(one, other):
    assert (digest_of([raw(one)]) == digest_of([raw(other)])) == (one == other)


@settings(max_examples=40)
@given(ROWS, st.lists(st.integers(0, 6), max_size=3))
def test_the_place_in_the_extract_and_the_pieces_it_came_in_make_no_difference(rows, cuts):
    whole = raw(rows)
    ends = [0, *sorted(cuts), len(rows)]
    pieces = [raw(rows[start:end], 7 * start + 1) for start, end in itertools.pairwise(ends)]
    within = pa.concat_tables([raw([("x",) * len(COLUMNS)]), whole, raw([("y",) * len(COLUMNS)])]).combine_chunks()
    found = {digest_of([whole]), digest_of(pieces), digest_of([pa.concat_tables(pieces)])}
    assert found == {digest_of([within.slice(1, len(rows))])}


def test_what_lies_under_a_null_makes_no_difference():
    whole = raw([("a",) * len(COLUMNS), ("b",) * len(COLUMNS)])
    texts = whole["price"].combine_chunks()
    hidden = pa.Array.from_buffers(pa.string(), 2, [pa.py_buffer(b"\x01"), *texts.buffers()[1:]], null_count=1)
    place = whole.column_names.index("price")
    plain = pa.array(["a", None], pa.string())
    assert digest_of([whole.set_column(place, "price", hidden)]) == digest_of([whole.set_column(place, "price", plain)])


@pytest.mark.parametrize("name", COLUMNS)
def test_every_column_counts(name):
    rows = {"row_number": 1, **dict.fromkeys(COLUMNS, "a")}
    digests = {digest_of([pa.Table.from_pylist([{**rows, name: value}], RAW)]) for value in ("a", "b", "", None)}
    assert len(digests) == 4


@pytest.mark.parametrize("name", COLUMNS)
def test_a_value_that_moves_to_another_row_or_column_counts(name):
    other = COLUMNS[COLUMNS.index(name) - 1]
    rows = [{"row_number": place, **dict.fromkeys(COLUMNS, "a")} for place in (1, 2)]
    moved = [(0, name), (1, name), (0, other)]
    found = set()
    for place, column in moved:
        changed = [dict(row) for row in rows]
        changed[place][column] = "b"
        found.add(digest_of([pa.Table.from_pylist(changed, RAW)]))
    assert len(found) == 3
