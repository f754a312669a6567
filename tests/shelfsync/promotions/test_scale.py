"""Two million pairs, from the ERP's file to the sandbox, within a minute and a gibibyte; confirming is linear."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from benchmarks.promotions import measure, measure_confirming

pytestmark = [pytest.mark.scale, pytest.mark.slow]

PAIRS = 2_000_000
SECONDS_MAX, MIB_MAX = 60, 1024


@pytest.mark.proof
@pytest.mark.parametrize("shape", ["shared", "apart"])
def test_two_million_pairs_are_planned_cut_and_sent_within_a_minute_and_a_gibibyte(shape):
    measured = measure(pairs=PAIRS, vendors=20, shape=shape)
    assert (measured["pairs"], measured["taken"]) == (PAIRS, measured["requests"])
    assert measured["peak_mib"] < MIB_MAX
    assert measured["all_s"] < SECONDS_MAX


def test_confirming_and_a_run_without_changes_grow_with_the_number_of_promotions_and_not_with_its_square():
    """`python -m benchmarks.promotions --confirm` prints the times of ten thousand."""
    few, many = measure_confirming(300), measure_confirming(1_200)
    assert [one["taken"] for one in (few, many)] == [one["requests"] for one in (few, many)] == [300, 1_200]
    for name in ("confirm_cpu_s", "again_cpu_s"):
        assert many[name] < 8 * few[name], (name, few, many)
