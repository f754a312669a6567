"""What holds of the catalog keep back, for the report of a run; and what the guards would have held in past runs (backtest)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from shelfsync.catalog.ledger import vendor_runs, vendors
from shelfsync.catalog.steps.guard import read_case
from shelfsync.decisions.ledger import holds
from shelfsync.decisions.state import HoldState, Subject
from shelfsync.decisions.steps import lists
from shelfsync.errors import some_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from sqlalchemy.engine import Connection

    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.context import Context
    from shelfsync.decisions.hold import Hold


def by_vendor(found: list[Hold]) -> dict[str, str]:
    """What these holds keep back, and the command that lists it: one sentence for each vendor."""
    vendors = sorted({hold.vendor for hold in found})
    return {vendor: _sentence([hold for hold in found if hold.vendor == vendor]) for vendor in vendors}


def _sentence(found: list[Hold]) -> str:
    waiting = sum(hold.state == HoldState.OPEN for hold in found)
    decided = len(found) - waiting
    parts = [f"{waiting} holds to decide: `shelfsync holds list`"] if waiting else []
    parts += [f"{decided} declined or expired: `shelfsync holds list --state held`"] if decided else []
    return f"{sum(hold.rows for hold in found):,} changes are held by a guard ({'; '.join(parts)})"


def waits(connection: Connection, vendors: Collection[str] = (), *, run_id: int) -> dict[str, Any] | None:
    """`{"holds", "newest", "expired", "line", "brief"}` of what waits for a person at these vendors or at all; None: nothing.

    `line` has number, stores, rules, expiry and the next command; `brief` only what the report of the run has not.

    `run_id`: what is new.
    """
    left = lists.waiting(connection, Subject.CATALOG, vendors)
    if left is None:
        return None
    found, first, expired = left.holds, left.first, left.expired
    stores = sorted({hold.vendor for hold in found})
    new = sum(hold.first_run_id == run_id for hold in found)
    line = (
        f"{sum(hold.rows for hold in found):,} changes are held and wait for a person: {len(found):,} holds of {len(stores):,} stores"
        f" ({some_of(stores)}), rules {', '.join(left.rules)}; {new:,} new in this run, {len(found) - new:,} from earlier runs"
    )
    if first is not None:
        line += f". {lists.expiry(connection, first)}"
    if expired:
        line += f". {expired:,} expired without a decision: reopen or decline them"
    brief = f"{len(found):,} holds wait for a person"
    if first is not None:
        brief += f", {lists.until(first, holds.left_s(connection, first.hold_id))}"
    return {
        "holds": len(found),
        "newest": found[0].hold_id,
        "expired": expired,
        "line": f"{line}. {left.following}",
        "brief": f"{brief}. {left.following}",
    }


def would_wait(connection: Connection, plan: dict[str, Any]) -> dict[str, Any] | None:
    """The same about what a plan would hold. What was declined is held too, and waits for no person."""
    declined = Counter[tuple[str, str]]()
    for hold in holds.in_force(connection, Subject.CATALOG):
        if hold.state == HoldState.DECLINED:
            declined[hold.vendor, hold.rule] += hold.rows
    would = Counter[tuple[str, str]]()
    for vendor in plan["vendors"]:
        for one in vendor["held"]:
            would[vendor["vendor"], one["rule"]] += one["rows"]
    left = would - declined
    if not left:
        return None
    stores, rules = {vendor for vendor, _ in left}, {rule for _, rule in left}
    line = lists.would_wait(f"{left.total():,} changes of {len(stores):,} stores", stores, rules)
    return {"line": line, "brief": f"{left.total():,} changes would be held"}


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
    from shelfsync.catalog.guards import apply_guards

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
