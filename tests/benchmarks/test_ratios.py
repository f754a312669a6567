"""The hot path may not become slow unnoticed: ratios within one process, never times, because machines differ and are busy.

What each is compared with is measured beside it in turns, the best of several; CPU time, which other processes do not add to.
The limits leave about a third of room above what is measured (docs/performance.md).
"""

from __future__ import annotations

import csv
import io
import json
import time

import pyarrow as pa
import pytest

from benchmarks import chain, slow
from shelfsync.catalog.acknowledge import acknowledge, in_doubt
from shelfsync.catalog.batch import cut
from shelfsync.catalog.confirm import match, parse_log
from shelfsync.catalog.diff import diff
from shelfsync.catalog.guard import guard
from shelfsync.catalog.guards.case import Case
from shelfsync.catalog.normalise import normalise
from shelfsync.columns import BASELINE
from shelfsync.settings import GuardSettings, NormaliseSettings

ROUNDS = 7


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return chain.make(tmp_path_factory.mktemp("chain"), chain.VENDOR_ROWS, raw_vendors=1)


@pytest.fixture(scope="module")
def tables(made):
    return next(made.tables())[1:]


@pytest.fixture(scope="module")
def full(tables):
    return diff(tables[0], BASELINE.empty_table(), full=True)


def ratio(ours, theirs):
    """CPU of ours over theirs, each the best of some rounds in turns."""
    best = {}
    for _ in range(ROUNDS):
        for way in (ours, theirs):
            began_s = time.process_time()
            way()
            best[way] = min(best.get(way, float("inf")), time.process_time() - began_s)
    found = best[ours] / best[theirs]
    print(f"{best[ours] * 1000:.1f} ms / {best[theirs] * 1000:.1f} ms = {found:.2f}")
    return found


def texts(delta):
    for batch in cut(delta, key="sku", sales_limit_name="maximum_sales_quantity", body_bytes_max=95 << 20):
        for _ in batch.body:
            pass


def log_of(items):
    lines = [
        f'"{sku}","{"failed" if row % 50 == 0 else "success"}",""' for row, sku in enumerate(items["sku"].to_pylist())
    ]
    return ("\n".join(['"sku","state","errors"', *lines]) + "\n").encode()


def test_a_diff_costs_little_more_than_reading_its_files(made):
    def whole():
        _, snapshot, baseline = next(made.tables())
        diff(snapshot, baseline, full=False)

    assert ratio(whole, lambda: next(made.tables())) < 2.4


def test_diff_guard_json_and_cut_cost_less_than_reading_the_files_three_times(made):
    def whole():
        shelf, snapshot, baseline = next(made.tables())
        delta = diff(snapshot, baseline, full=False)
        texts(guard(Case(shelf.vendor, delta, snapshot, baseline, snapshot.num_rows, GuardSettings())).released)

    assert ratio(whole, lambda: next(made.tables())) < 3.0


def test_json_of_columns_costs_a_fraction_of_json_of_dictionaries(full):
    def dictionaries():
        rows = full.select(["sku", *slow.FIELDS]).to_pylist()
        items = [{name: value for name, value in row.items() if value is not None} for row in rows]
        json.dumps({"products": items}, default=float, separators=(",", ":"))

    assert ratio(lambda: texts(full), dictionaries) < 0.15


def test_json_of_values_that_never_repeat_is_no_cliff(full):
    numbers = pa.array(range(1_000_000, 1_000_000 + full.num_rows))
    names = full.column_names
    distinct = full.set_column(names.index("quantity"), "quantity", numbers)
    prices = numbers.cast(pa.string()).cast(pa.decimal128(20, 3))
    distinct = distinct.set_column(names.index("price"), "price", prices)
    assert ratio(lambda: texts(distinct), lambda: texts(full)) < 3.5


def test_normalising_costs_a_few_times_what_reading_the_raw_rows_costs(made):
    def read():
        return made.lake.read_table(made.shelves[0].raw)

    raw = read()
    assert ratio(lambda: normalise(raw, NormaliseSettings()), read) < 3.0


def test_a_log_costs_less_than_a_dictionary_a_line(full):
    log = log_of(full)

    def dictionaries():
        said = {line["sku"]: line for line in csv.DictReader(io.StringIO(log.decode()))}
        return [(row["sku"], said[row["sku"]]["state"]) for row in full.to_pylist()]

    assert ratio(lambda: match(full, parse_log(io.BytesIO(log), whole=True)), dictionaries) < 0.4


def test_acknowledging_costs_less_than_reading_what_it_moves(made, tables):
    snapshot, baseline = tables
    delta = diff(snapshot, baseline, full=False)
    outcomes = match(delta, parse_log(io.BytesIO(log_of(delta)), whole=True))
    moved = ratio(
        lambda: in_doubt(acknowledge(baseline, delta, outcomes), delta, outcomes), lambda: next(made.tables())
    )
    assert moved < 1.5
