"""The rows of a run by stage: a part has no more rows than asked for, and an urgent or dry run has what it did."""

from __future__ import annotations

import pytest

from shelfsync.catalog.steps.rows_of_run import COLUMNS, Stage, observed, rows_of_run


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 2, 100])
def test_a_part_is_never_larger_than_asked_for(world, most):
    for number in range(3):
        world.erp.put("store-001", f"u{number}", "1.00")
    world.sync("full")
    for stage, rows in {
        **dict.fromkeys(Stage, 3),
        Stage.HELD: 0,
        Stage.ACCEPTED: 0,
        Stage.UNACCOUNTED: 0,
        Stage.OBSERVED: 0,
    }.items():
        parts = list(rows_of_run(world.app.context, 1, stage, most=most))
        assert sum(map(len, parts)) == rows, stage
        assert all(len(part) <= most for part in parts)
        assert all(set(row) == set(COLUMNS) for part in parts for row in part)


def test_a_run_without_rows_has_none(world):
    number = world.app.open_run("delta", "test/empty", (), dry_run=True)
    for stage in Stage:
        assert list(rows_of_run(world.app.context, number, stage, most=5)) == []
    assert observed(world.app.context, number, 0) == 0
    assert observed(world.app.context, number, 10**7) is None
