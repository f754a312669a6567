"""backtest: what the guards would have held in past runs, with the present thresholds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from shelfsync.catalog.ledger import vendor_runs, vendors
from shelfsync.catalog.steps.guard import read_case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.context import Context

_KEPT = "SHELFSYNC_HOUSEKEEPING__SNAPSHOT_DAYS, SHELFSYNC_HOUSEKEEPING__BASELINE_DAYS"


def backtest(context: Context, *, names: tuple[str, ...] = (), days: float = 30) -> dict[str, Any]:
    """What the guards would have held in the runs of the last days, with the present thresholds. It holds and sends nothing.

    `{"days", "runs", "passed_over", "holds": [...], "rules": {rule: {"holds", "rows"}}, "lines"}`, oldest run first.

    `runs` counts each vendor with changes in each run of the catalog. `passed_over` counts those whose files housekeeping has removed.
    The backtest knows no decisions: a change that stayed in the ERP for a week counts in each of its runs.
    """
    with context.engine.connect() as connection:
        rows = vendor_runs.guarded_lately(connection, names, days=days)
    found: list[dict[str, Any]] = []
    checked = 0
    for row in rows:
        if not _has_files(context, row):
            continue
        checked += 1
        found += _held_again(context, row)
    rules = {
        rule: {"holds": count, "rows": sum(hold["rows"] for hold in found if hold["rule"] == rule)}
        for rule, count in sorted(Counter(hold["rule"] for hold in found).items())
    }
    result = {"days": days, "runs": checked, "passed_over": len(rows) - checked, "holds": found, "rules": rules}
    return {**result, "lines": [*_backtest_lines(result)]}


def _held_again(context: Context, row: VendorRun) -> list[dict[str, Any]]:
    from shelfsync.catalog.guards.apply_guards import apply_guards

    case = read_case(context, row, row.delta_path or "")
    return [
        {
            "run": row.run_id,
            "vendor": row.vendor,
            "rule": one.rule,
            "category": one.category,
            "rows": one.rows.num_rows,
            "message": one.message,
        }
        for one in apply_guards(case).held_changes
    ]


def _has_files(context: Context, row: VendorRun) -> bool:
    """Whether the files that the guards read are still in the lake."""
    with context.engine.connect() as connection:
        base = vendors.baseline_of_version(connection, row.vendor, row.base_version or 0)
    if base is None and row.base_version:
        return False
    paths = [row.delta_path, row.snapshot_path, *([] if base is None else [base])]
    return all(path is not None and context.lake.exists(path) for path in paths)


def _backtest_lines(result: dict[str, Any]) -> Iterator[str]:
    for hold in result["holds"]:
        yield f"run {hold['run']}, vendor {hold['vendor']}: {hold['rows']} rows would be held by {hold['rule']}: {hold['message']}"
    gone = f"; the files of {result['passed_over']} more are no longer kept ({_KEPT})" if result["passed_over"] else ""
    yield f"{result['runs']} runs of a vendor with changes in the last {result['days']:g} days, checked with the present thresholds{gone}"
    for rule, sums in result["rules"].items():
        yield f"{rule}: {sums['holds']} holds, {sums['rows']} rows"
    if not result["rules"]:
        yield "nothing would have been held" if result["runs"] else "nothing was checked"
