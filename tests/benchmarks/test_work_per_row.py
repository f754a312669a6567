"""The hot path may not become slow unnoticed: no step works row by row in Python.

Counted are the bytecodes that the interpreter runs, which are the same on every machine, however busy. What a step costs in time is the
benchmark's to measure (`make bench`, docs/internals/performance.md).
"""

from __future__ import annotations

import io
import sys

import pyarrow as pa
import pytest

from benchmarks import chain, slow
from shelfsync.catalog.baseline import with_accepted, with_unconfirmed
from shelfsync.catalog.bodies import cut
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.guards.apply_guards import apply_guards
from shelfsync.catalog.guards.case import Case
from shelfsync.catalog.log_reader import parse_log
from shelfsync.catalog.outcome import match
from shelfsync.catalog.snapshot import make_snapshot
from shelfsync.schemas import BASELINE
from shelfsync.settings import GuardSettings, NormaliseSettings

FEW, MANY = 2_000, 40_000
GROWTH_MAX = 3.0
"""More rows are more chunks of a body and more values to look up; work for each row would be twenty times as much."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return chain.make(tmp_path_factory.mktemp("chain"), chain.VENDOR_ROWS, raw_vendors=1)


def bytecodes(work):
    """How many the interpreter runs for it, in whatever function."""
    counted = 0

    def trace(frame, event, _):
        nonlocal counted
        frame.f_trace_opcodes = True
        counted += event == "opcode"
        return trace

    before = sys.gettrace()
    work()  # what is imported and remembered at the first call is no part of it
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return counted


def texts(delta):
    for batch in cut(delta, key="sku", sales_limit_name="maximum_sales_quantity", body_max_bytes=95 << 20):
        for _ in batch.body:
            pass


def log_of(items):
    lines = [
        f'"{sku}","{"failed" if row % 50 == 0 else "success"}",""' for row, sku in enumerate(items["sku"].to_pylist())
    ]
    return ("\n".join(['"sku","state","errors"', *lines]) + "\n").encode()


class Vendor:
    """The first rows of a vendor, and each step's work on them."""

    def __init__(self, made, rows):
        shelf, snapshot, baseline = next(made.tables())
        self.name = shelf.vendor
        self.raw = made.lake.read_table(shelf.raw).slice(0, rows)
        self.snapshot, self.baseline = snapshot.slice(0, rows), baseline.slice(0, rows)
        self.full = compute_delta(self.snapshot, BASELINE.empty_table(), full=True)
        self.delta = compute_delta(self.snapshot, self.baseline, full=False)
        self.log = log_of(self.full)
        self.outcomes = match(self.delta, parse_log(io.BytesIO(log_of(self.delta)), whole=True))

    def normalise(self):
        make_snapshot(self.raw, NormaliseSettings())

    def diff(self):
        compute_delta(self.snapshot, self.baseline, full=False)

    def guard(self):
        apply_guards(Case(self.name, self.delta, self.snapshot, self.baseline, self.snapshot.num_rows, GuardSettings()))

    def batch(self):
        texts(self.full)

    def confirm(self):
        match(self.full, parse_log(io.BytesIO(self.log), whole=True))

    def acknowledge(self):
        with_unconfirmed(with_accepted(self.baseline, self.delta, self.outcomes), self.delta, self.outcomes)

    def slow_diff(self):
        slow.changes(self.snapshot, self.baseline)


@pytest.fixture(scope="module")
def few(made):
    return Vendor(made, FEW)


@pytest.fixture(scope="module")
def many(made):
    return Vendor(made, MANY)


@pytest.mark.parametrize("step", ["normalise", "diff", "guard", "batch", "confirm", "acknowledge"])
def test_a_step_does_nothing_row_by_row(few, many, step):
    one, twenty = bytecodes(getattr(few, step)), bytecodes(getattr(many, step))
    print(f"{step}: {one} bytecodes for {FEW} rows, {twenty} for {MANY}")
    assert twenty < one * GROWTH_MAX


@pytest.mark.slow
def test_the_count_sees_what_works_row_by_row(few, many):
    """The slow path of the benchmark is written that way."""
    assert bytecodes(many.slow_diff) > bytecodes(few.slow_diff) * 10


def test_json_of_values_that_never_repeat_does_nothing_row_by_row_either(many):
    numbers = pa.array(range(1_000_000, 1_000_000 + MANY))
    distinct = many.full
    for name, values in (("quantity", numbers), ("price", numbers.cast(pa.string()).cast(pa.decimal128(20, 3)))):
        distinct = distinct.set_column(distinct.column_names.index(name), name, values)
    assert bytecodes(lambda: texts(distinct)) < bytecodes(many.batch) * GROWTH_MAX
