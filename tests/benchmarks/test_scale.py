"""What the curve of the cost of a vendor counts, on the smallest of chains; and what it takes for growth."""

from __future__ import annotations

import os

import pytest

from benchmarks import scale


def row(vendors: int, **costs: float) -> dict:
    same = dict.fromkeys((*scale.LIMITED, "wall_ms"), 1.0)
    return {"vendors": vendors, "chains": 1, "delta": "changed", **same, **costs}


def test_growth_is_the_largest_size_over_the_smallest_and_more_than_the_limit_fails(monkeypatch, capsys):
    curve = [row(10, statements=100.0), row(50, statements=90.0), row(200, statements=111.0)]
    (found,) = scale.growth(curve)
    assert (found["from"], found["to"], found["statements"], found["cpu_ms"]) == (10, 200, 1.11, 1.0)
    monkeypatch.setattr(scale, "measured", lambda *_: [curve[0] if _[0] == 10 else curve[-1]])
    monkeypatch.setattr("sys.argv", ["scale", "--vendors", "10", "200", "--chains", "1"])
    assert scale.main() == 1
    curve[-1]["statements"] = 110.0
    monkeypatch.setenv("SHELFSYNC_GUARDS__OFF", "true")
    assert scale.main() == 0
    assert "SHELFSYNC_GUARDS__OFF" not in os.environ
    assert '"growth_max": 1.1' in capsys.readouterr().out


@pytest.mark.slow
def test_every_cost_of_two_chains_is_counted():
    changed, same = scale.measured(2, 50, 2)
    assert (changed["requests"], same["requests"]) == (6.0, 2.0)
    assert changed["statements"] > same["statements"] > changed["chains"]
    assert changed["transactions"] > 1
    assert {"extract", "diff", "deliver", "confirm", "report"} <= changed["cpu_ms_by_step"].keys()
    assert "serial_share" in changed
