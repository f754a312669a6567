"""What the benchmark of freshness counts."""

from __future__ import annotations

import datetime as dt
from types import SimpleNamespace

from benchmarks.freshness import StopSell, figures_of

NOW = dt.datetime(2026, 3, 2, 10, tzinfo=dt.UTC)


def test_a_stop_sell_counts_to_its_first_acknowledgement_and_one_without_any_is_not_hidden():
    sold = [StopSell("store-001", sku, NOW) for sku in "abc"]
    known = [("a", 4), ("a", 90), ("b", 20)]
    outcomes = [
        SimpleNamespace(vendor="store-001", sku=sku, known_at=NOW + dt.timedelta(seconds=seconds))
        for sku, seconds in known
    ]
    requests = {"put_catalog": 8, "download": 8, "job_status": 4}
    runs = [SimpleNamespace(requests=6, prepared_s=seconds, lasted_s=12 + seconds) for seconds in (0.6, 1.2, 6.0)]
    found = figures_of(sold, outcomes, requests, runs, vendors=6, lasted_s=120)
    assert (found["stop_sells"], found["acknowledged"]) == (3, 2)
    assert (found["p50_s"], found["worst_s"], found["bound_cycle_s"]) == (12.0, 20.0, 12.0)
    assert (found["allowance_used"], found["polls_share"]) == (0.17, 0.2)
    assert (found["runs"], found["prepared_p50_s"], found["run_of_bound_p50"]) == (3, 1.2, 1.1)
