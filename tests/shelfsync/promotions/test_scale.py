"""Two million pairs, from the ERP's file to the sandbox, within a minute and a gibibyte; ten thousand promotions confirmed in a minute."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from benchmarks.promotions import measure, measure_confirming

pytestmark = [pytest.mark.scale, pytest.mark.slow]

PAIRS = 2_000_000
SECONDS_MAX, MIB_MAX = 60, 1024


@pytest.mark.parametrize("shape", ["shared", "apart"])
def test_two_million_pairs_are_planned_cut_and_sent_within_a_minute_and_a_gibibyte(shape):
    measured = measure(pairs=PAIRS, vendors=20, shape=shape)
    assert (measured["pairs"], measured["taken"]) == (PAIRS, measured["requests"])
    assert measured["peak_mib"] < MIB_MAX
    assert measured["all_s"] < SECONDS_MAX


def test_ten_thousand_promotions_are_confirmed_within_a_minute_and_twenty_seconds_of_cpu():
    measured = measure_confirming(10_000)
    assert measured["taken"] == measured["requests"] == 10_000
    assert (measured["confirm_s"] < 60, measured["confirm_cpu_s"] < 20) == (True, True), measured


def test_a_run_without_changes_of_two_thousand_promotions_takes_at_most_three_seconds_of_cpu():
    assert (measured := measure_confirming(2_001))["again_cpu_s"] < 3, measured
