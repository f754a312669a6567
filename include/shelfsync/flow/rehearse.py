"""rehearse: what the guards, with the thresholds of today, would have held in the runs of the last days. Holds and sends nothing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from shelfsync.flow.guard import read_case
from shelfsync.ledger import vendor_runs, vendors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.vendor_runs import VendorRun


def rehearse(parts: Parts, *, names: tuple[str, ...] = (), days: float = 30) -> dict[str, Any]:
    """`{"days", "runs", "passed_over", "slices": [...], "rules": {rule: {"slices", "rows"}}, "lines"}`, oldest run first.

    A run is one vendor's in one run of the catalog that had changes. `passed_over` counts those whose files housekeeping has removed
    already. Nobody's approvals or rejections are asked: a slice that stood in the ERP for a week counts in each run of it.
    """
    with parts.engine.connect() as connection:
        rows = vendor_runs.guarded_lately(connection, names, days=days)
    slices: list[dict[str, Any]] = []
    looked = 0
    for row in rows:
        if not _is_there(parts, row):
            continue
        looked += 1
        slices += _slices(parts, row)
    rules = {
        rule: {"slices": count, "rows": sum(one["rows"] for one in slices if one["rule"] == rule)}
        for rule, count in sorted(Counter(one["rule"] for one in slices).items())
    }
    told = {"days": days, "runs": looked, "passed_over": len(rows) - looked, "slices": slices, "rules": rules}
    return {**told, "lines": [*_lines(told)]}


def _slices(parts: Parts, row: VendorRun) -> list[dict[str, Any]]:
    from shelfsync.catalog.guard import guard as pure

    case, _ = read_case(parts, row, row.delta_path or "")
    return [
        {
            "run": row.run_id,
            "vendor": row.vendor,
            "rule": one.rule,
            "category": one.category,
            "rows": one.rows.num_rows,
            "message": one.message,
        }
        for one in pure(case).slices
    ]


def _is_there(parts: Parts, row: VendorRun) -> bool:
    """Whether the files that the guards looked at are kept still."""
    with parts.engine.connect() as connection:
        base = vendors.baseline_of_version(connection, row.vendor, row.base_version or 0)
    if base is None and row.base_version:
        return False
    paths = [row.delta_path, row.snapshot_path, *([] if base is None else [base])]
    return all(path is not None and parts.lake.exists(path) for path in paths)


def _lines(told: dict[str, Any]) -> Iterator[str]:
    for one in told["slices"]:
        yield f"run {one['run']}, vendor {one['vendor']}: {one['rows']} rows would be held by {one['rule']}: {one['message']}"
    gone = f"; the files of {told['passed_over']} more are no longer kept" if told["passed_over"] else ""
    yield f"{told['runs']} runs of a vendor with changes in the last {told['days']:g} days, looked at with the present thresholds{gone}"
    for rule, sums in told["rules"].items():
        yield f"{rule}: {sums['slices']} slices, {sums['rows']} rows"
    if not told["rules"]:
        yield "nothing would have been held"
