"""How the demo prints its numbers."""

from __future__ import annotations

from shelfsync.local.figures import sync_lines

RUN = {"kind": "full", "state": "succeeded", "seconds": 31.6, "vendors": 6, "values_left_out": 0} | dict.fromkeys(
    ("rows_raw", "rows_quarantined", "skus_changed", "skus_held", "skus_sent", "skus_accepted", "skus_rejected"), 1200
)


def test_a_sync_is_told_with_its_reasons_and_requests() -> None:
    run = RUN | {"skus_unaccounted": 0, "rejected": {"product not found": 3}}
    blank, head, *rows = sync_lines(run, {"token": 1, "catalog": 12})
    assert (blank, head) == ("", "catalog full sync: succeeded, 32 s")
    told = {row[:50].strip(): row[50:].split() for row in rows}
    assert told["SKUs accepted"] == ["1,200"]
    assert told["product not found"] == ["3"]
    assert told["requests"] == ["13", "catalog", "12,", "token", "1"]
    assert "faulty values left out" not in told
    assert any("faulty values left out" in row for row in sync_lines(run | {"values_left_out": 2}, {}))
