"""Laws of halving: any set of bad rows is found in a bounded number of requests, and no place starves for another."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shelfsync.catalog import halving
from shelfsync.catalog.urgency import LANES

SIZE_MAX = 300


@dataclass(frozen=True)
class Piece:
    rows: pa.Table
    lane: str
    sequence: int
    halved_from: int | None = None

    @property
    def item_count(self):
        return self.rows.num_rows


@dataclass
class Search:
    """A vendor whose platform takes no request that has a bad row in it; what each request settled, in order."""

    bad: set
    waiting: list = field(default_factory=list)
    sent: set = field(default_factory=set)
    found: set = field(default_factory=set)
    settled: list = field(default_factory=list)
    in_vain: int = 0
    _numbers: itertools.count = field(default_factory=lambda: itertools.count(1))

    def plan(self, rows, lane="catalog", halved_from=None):
        if rows.num_rows:
            self.waiting.append(Piece(rows, lane, next(self._numbers), halved_from))

    def send(self):
        piece = halving.next_of(self.waiting, self.in_vain)
        self.waiting.remove(piece)
        skus = set(piece.rows["sku"].to_pylist())
        before = len(self.sent | self.found)
        if not skus & self.bad:
            self.sent |= skus
            self.in_vain = 0
        else:
            self.in_vain += 1
            if len(skus) == 1:
                self.found |= skus
            else:
                for half in halving.halves(piece.rows):
                    self.plan(half, piece.lane, piece.sequence)
        self.settled.append(len(self.sent | self.found) - before)

    def all(self):
        while self.waiting:
            self.send()
        return len(self.settled)

    def next_delta(self, skus):
        """What is not settled is said again, cut where this search had come to."""
        suspects = [
            halving.Suspect(piece.rows["sku"][0].as_py(), piece.rows["sku"][-1].as_py(), piece.halved_from)
            for piece in self.waiting
            if piece.halved_from
        ]
        self.waiting = []
        left = [sku for sku in skus if sku not in self.sent | self.found]
        for rows, number in halving.parted(table(left), suspects):
            self.plan(rows, halved_from=number)


def table(skus):
    return pa.table({"sku": pa.array(sorted(skus), pa.string())})


def named(numbers):
    return [f"s{number:04}" for number in numbers]


def bodies():
    return st.integers(1, SIZE_MAX).flatmap(
        lambda size: st.tuples(st.just(size), st.one_of(st.just(set(range(size))), st.sets(st.integers(0, size - 1))))
    )


def most(size, bad):
    return 1 if not bad else min(2 * size - 1, 1 + 2 * bad * math.ceil(math.log2(size)) if size > 1 else 1)


@given(bodies())
@example((1, {0}))
@example((2, {1}))
@example((256, set(range(256))))
def test_any_set_of_bad_rows_is_found_and_every_good_row_sent_in_a_bounded_number_of_requests(body):
    size, bad = body
    search = Search(set(named(bad)))
    search.plan(table(named(range(size))))
    assert search.all() <= most(size, len(bad))
    assert search.found == search.bad
    assert search.sent == set(named(range(size))) - search.bad


@given(bodies(), st.lists(st.sampled_from(LANES), min_size=1, max_size=3))
def test_within_any_two_dozen_requests_something_is_sent_or_a_bad_row_is_found(body, lanes):
    size, bad = body
    search = Search(set(named(bad)))
    for number, lane in enumerate(lanes):
        search.plan(table(named(range(number, size, len(lanes)))), lane)
    search.all()
    longest = max(
        (len(list(run)) for nothing, run in itertools.groupby(search.settled, lambda n: not n) if nothing), default=0
    )
    assert longest < halving.STEP


@given(bodies(), st.integers(1, 40))
@example((256, set(range(0, 256, 4))), 3)
def test_what_was_learned_outlives_every_new_delta_however_early_it_comes(body, requests_a_delta):
    """The rows that nobody knows about are said again by each delta; those of accepted pieces and single bad rows are not."""
    size, bad = body
    skus = named(range(size))
    search = Search(set(named(bad)))
    search.plan(table(skus))
    while search.waiting:
        for _ in range(requests_a_delta):
            if search.waiting:
                search.send()
        search.next_delta(skus)
    assert (search.found, search.sent) == (search.bad, set(skus) - search.bad)
    assert (
        len(search.settled) <= most(size, len(bad)) + 1
    )  # the very first body may be said twice: it was nobody's half


def test_a_long_stretch_of_bad_rows_does_not_keep_the_good_ones_elsewhere_waiting():
    skus = named(range(8000))
    search = Search(set(skus[:2000]))
    search.plan(table(skus))
    while len(search.sent) < 6000:
        search.send()
    assert len(search.settled) < halving.PATIENCE
    assert search.in_vain == 0


def test_the_halves_of_what_was_cut_last_go_first_in_their_lane_and_a_more_urgent_lane_before_all():
    pieces = [
        Piece(table(named(range(count))), lane, number, parent)
        for number, (count, lane, parent) in enumerate(
            [(10, "catalog", None), (4, "catalog", 7), (2, "catalog", 8), (2, "price", None), (9, "price", None)]
        )
    ]

    def order(in_vain, left):
        return (
            []
            if not left
            else [(one := halving.next_of(left, in_vain)).sequence, *order(in_vain, [p for p in left if p is not one])]
        )

    assert order(1, pieces) == [3, 4, 2, 1, 0]
    assert order(0, pieces) == [3, 4, 0, 1, 2]
    assert order(halving.PROBE, pieces)[0] == 0


def test_a_vendor_waits_twice_as_long_after_every_few_requests_in_vain_and_at_most_a_day():
    waits = {number: halving.wait_s(number, 900, 86_400) for number in range(400)}
    assert [number for number, wait in waits.items() if wait][:3] == [50, 60, 70]
    assert [waits[number] for number in (0, 49, 50, 51, 60, 70, 390)] == [0, 0, 900, 0, 1800, 3600, 86_400]
    asked = 0
    clock_s = 0.0
    while clock_s < 86_400:  # a vendor of which nothing is ever taken, in its first day
        asked += 1
        clock_s += halving.wait_s(asked, 900, 86_400)
    assert asked <= 120


@given(
    st.sets(st.integers(0, 60)).map(lambda numbers: table(named(numbers))),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20), st.integers(1, 99)), max_size=6),
)
def test_rows_that_are_parted_are_the_rows_and_nobody_waits_who_is_not_suspected(rows, pieces):
    suspects = [halving.Suspect(*named((first, first + more)), number) for first, more, number in pieces]
    found = halving.parted(rows, suspects)
    told = [sku for piece, _ in found for sku in piece["sku"].to_pylist()]
    assert sorted(told) == rows["sku"].to_pylist()
    assert all(piece.num_rows and piece["sku"].to_pylist() == sorted(piece["sku"].to_pylist()) for piece, _ in found)
    for piece, number in found:
        for sku in piece["sku"].to_pylist():
            names = [one.halved_from for one in suspects if one.first <= sku <= one.last]
            assert number in names if names else number is None
    assert [number for _, number in found].count(None) <= 1


@pytest.mark.parametrize("size", [2, 3, 7])
def test_halves_are_the_whole_and_differ_by_one_row_at_most(size):
    first, second = halving.halves(table(named(range(size))))
    assert pa.concat_tables([first, second]).equals(table(named(range(size))))
    assert second.num_rows - first.num_rows in {0, 1}
