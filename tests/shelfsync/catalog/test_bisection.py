"""Properties of bisection: any set of bad rows is found in a bounded number of requests, and no part of a body starves another."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shelfsync.catalog import bisection
from shelfsync.catalog.priority_split import PRIORITIES
from shelfsync.catalog.steps.vendor_back_off import BACKOFF_AFTER

SIZE_MAX = 300


@dataclass(frozen=True)
class Batch:
    rows: pa.Table
    priority: str
    sequence: int
    halved_from: int | None = None

    @property
    def item_count(self):
        return self.rows.num_rows


@dataclass
class Search:
    """A vendor of a platform that rejects each request with a bad row in it.

    `resolved`: for each request, in order, how many SKUs it sent or found to be bad.
    """

    bad: set
    waiting: list = field(default_factory=list)
    sent: set = field(default_factory=set)
    found: set = field(default_factory=set)
    resolved: list = field(default_factory=list)
    failures: int = 0
    _numbers: itertools.count = field(default_factory=lambda: itertools.count(1))

    def plan(self, rows, priority="catalog", halved_from=None):
        if rows.num_rows:
            self.waiting.append(Batch(rows, priority, next(self._numbers), halved_from))

    def send(self):
        batch = bisection.next_batch(self.waiting, self.failures)
        self.waiting.remove(batch)
        skus = set(batch.rows["sku"].to_pylist())
        before = len(self.sent | self.found)
        if not skus & self.bad:
            self.sent |= skus
            self.failures = 0
        else:
            self.failures += 1
            if len(skus) == 1:
                self.found |= skus
            else:
                for half in bisection.halves(batch.rows):
                    self.plan(half, batch.priority, batch.sequence)
        self.resolved.append(len(self.sent | self.found) - before)

    def all(self):
        while self.waiting:
            self.send()
        return len(self.resolved)

    def next_delta(self, skus):
        """The next delta has the SKUs that are not resolved, cut at the suspect batches of this search."""
        suspects = [
            bisection.SuspectBatch(batch.rows["sku"][0].as_py(), batch.rows["sku"][-1].as_py(), batch.halved_from)
            for batch in self.waiting
            if batch.halved_from
        ]
        self.waiting = []
        left = [sku for sku in skus if sku not in self.sent | self.found]
        for rows, number in bisection.split_at(table(left), suspects):
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


@pytest.mark.slow
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


@given(bodies(), st.lists(st.sampled_from(PRIORITIES), min_size=1, max_size=3))
def test_within_any_two_dozen_requests_something_is_sent_or_a_bad_row_is_found(body, priorities):
    size, bad = body
    search = Search(set(named(bad)))
    for number, priority in enumerate(priorities):
        search.plan(table(named(range(number, size, len(priorities)))), priority)
    search.all()
    longest = max(
        (len(list(run)) for nothing, run in itertools.groupby(search.resolved, lambda n: not n) if nothing), default=0
    )
    assert longest < bisection.FAILURES_PER_STEP


@pytest.mark.slow
@given(bodies(), st.integers(1, 40))
@example((256, set(range(0, 256, 4))), 3)
def test_the_progress_of_a_bisection_outlives_every_new_delta_however_early_it_comes(body, requests_a_delta):
    """Each delta has the rows without an outcome again, and neither the accepted rows nor the bad rows that are found."""
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
    assert len(search.resolved) <= most(size, len(bad)) + 1  # the first body, which is no half, may be sent twice


def test_a_long_stretch_of_bad_rows_does_not_keep_the_good_ones_elsewhere_waiting():
    skus = named(range(8000))
    search = Search(set(skus[:2000]))
    search.plan(table(skus))
    while len(search.sent) < 6000:
        search.send()
    assert len(search.resolved) < BACKOFF_AFTER
    assert search.failures == 0


def test_the_halves_of_the_last_cut_go_first_in_their_priority_and_a_higher_priority_before_all():
    pieces = [
        Batch(table(named(range(count))), priority, number, parent)
        for number, (count, priority, parent) in enumerate(
            [(10, "catalog", None), (4, "catalog", 7), (2, "catalog", 8), (2, "price", None), (9, "price", None)]
        )
    ]

    def order(failures, left):
        if not left:
            return []
        first = bisection.next_batch(left, failures)
        return [first.sequence, *order(failures, [batch for batch in left if batch is not first])]

    assert order(1, pieces) == [3, 4, 2, 1, 0]
    assert order(0, pieces) == [3, 4, 0, 1, 2]
    assert order(bisection.PROBE_EVERY, pieces)[0] == 0


@given(
    st.sets(st.integers(0, 60)).map(lambda numbers: table(named(numbers))),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20), st.integers(1, 99)), max_size=6),
)
def test_rows_that_are_split_are_all_the_rows_each_in_its_suspect_batch_or_in_none(rows, pieces):
    suspects = [bisection.SuspectBatch(*named((first, first + more)), number) for first, more, number in pieces]
    found = bisection.split_at(rows, suspects)
    skus = [sku for part, _ in found for sku in part["sku"].to_pylist()]
    assert sorted(skus) == rows["sku"].to_pylist()
    assert all(part.num_rows and part["sku"].to_pylist() == sorted(part["sku"].to_pylist()) for part, _ in found)
    for part, number in found:
        for sku in part["sku"].to_pylist():
            names = [one.halved_from for one in suspects if one.first <= sku <= one.last]
            assert number in names if names else number is None
    assert [number for _, number in found].count(None) <= 1


@pytest.mark.parametrize("size", [2, 3, 7])
def test_halves_are_the_whole_and_differ_by_one_row_at_most(size):
    first, second = bisection.halves(table(named(range(size))))
    assert pa.concat_tables([first, second]).equals(table(named(range(size))))
    assert second.num_rows - first.num_rows in {0, 1}
