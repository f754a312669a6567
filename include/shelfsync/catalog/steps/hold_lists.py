"""Holds for people: lists, the rows of one hold beside the values before, and what the guards would have held in past runs (backtest)."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from shelfsync.catalog import stake
from shelfsync.catalog.ledger import holds, vendor_runs, vendors
from shelfsync.catalog.state import HoldState
from shelfsync.catalog.steps.guard import read_case
from shelfsync.catalog.steps.holds import let_through
from shelfsync.errors import DataError, some_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from sqlalchemy.engine import Connection

    from shelfsync.catalog.ledger.holds import Hold
    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.context import Context

TOP_ROWS = 50
LOOK_S, LOOK_EACH_S = 300.0, 2.0
"""A question in Airflow looks so often whether its hold is decided: each look costs a task, so many open holds look more rarely."""


def listed(context: Context, *, states: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The last holds and every open one, newest first: every column of the ledger."""
    with context.engine.connect() as connection:
        return [as_values(hold) for hold in holds.newest(connection, *states)]


def in_force(context: Context) -> list[dict[str, Any]]:
    """The holds whose rows are held now, newest first: open, declined or expired, and still in the newest extract."""
    with context.engine.connect() as connection:
        return [as_values(hold) for hold in holds.in_force(connection)]


def open_by_rule(context: Context) -> list[dict[str, Any]]:
    """What one decision can close: `rule`, `holds`, `vendors`, `rows` and `newest` (its last hold) of the open holds."""
    with context.engine.connect() as connection:
        found = [hold for hold in holds.in_force(connection) if hold.state == HoldState.OPEN]
    return [
        {
            "rule": rule,
            "holds": len(of_rule),
            "vendors": len({hold.vendor for hold in of_rule}),
            "rows": sum(hold.rows for hold in of_rule),
            "newest": max(hold.hold_id for hold in of_rule),
        }
        for rule in sorted({hold.rule for hold in found})
        for of_rule in [[hold for hold in found if hold.rule == rule]]
    ]


def known(context: Context, numbers: Iterable[int]) -> list[int]:
    """The numbers, each once; a DataError names one that no hold has."""
    with context.engine.connect() as connection:
        for number in numbers:
            if holds.read(connection, number) is None:
                raise DataError(f"holds: there is no hold {number}; `shelfsync holds list` shows them")
    return list(dict.fromkeys(numbers))


def undecided(context: Context, numbers: Iterable[int]) -> list[int]:
    """Those of these holds that may be approved now."""
    with context.engine.connect() as connection:
        found = [holds.read(connection, number) for number in numbers]
    return [hold.hold_id for hold in found if hold is not None and hold.may_be_approved]


def open_of_rule(context: Context, rule: str, vendors: Collection[str] = (), *, newest: int | None = None) -> list[int]:
    """The holds of a rule that wait for a decision, oldest first: of these vendors or of all, up to `newest`. A DataError: there is none."""
    with context.engine.connect() as connection:
        found = holds.in_force(connection)
    mine = [hold for hold in found if hold.rule == rule and (not vendors or hold.vendor in vendors)]
    chosen = sorted(hold.hold_id for hold in mine if hold.state == HoldState.OPEN)
    chosen = [number for number in chosen if newest is None or number <= newest]
    if not chosen:
        raise DataError(f"holds: no hold of rule {rule!r} waits for a decision; `shelfsync holds list` shows what does")
    return chosen


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

    A declined hold waits for no person. One that expired without a decision does: it may be that none has seen it. `run_id`: what is new.
    """
    undecided = [hold for hold in holds.in_force(connection) if hold.state != HoldState.DECLINED]
    found = [hold for hold in undecided if not vendors or hold.vendor in vendors]
    if not found:
        return None
    still_open = [hold for hold in found if hold.state == HoldState.OPEN]
    expired = len(found) - len(still_open)
    stores, rules = sorted({hold.vendor for hold in found}), sorted({hold.rule for hold in found})
    new = sum(hold.first_run_id == run_id for hold in found)
    line = (
        f"{sum(hold.rows for hold in found):,} changes are held and wait for a person: {len(found):,} holds of {len(stores):,} stores"
        f" ({some_of(stores)}), rules {', '.join(rules)}; {new:,} new in this run, {len(found) - new:,} from earlier runs"
    )
    if still_open:
        first = min(still_open, key=lambda hold: hold.expires_at)
        left = holds.left_s(connection, first.hold_id) / 3600
        line += (
            f". Hold {first.hold_id} expires first, at {first.expires_at:%Y-%m-%d %H:%M} UTC (in {max(left, 0):.1f} h);"
            " then its changes stay held"
        )
    if expired:
        line += f". {expired:,} expired without a decision: approve or decline them"
    following = f"Next: `shelfsync holds list{' --state held' if expired else ''}`"
    brief = f"{len(found):,} holds wait for a person"
    if still_open:
        brief += f", the first until {first.expires_at:%Y-%m-%d %H:%M} UTC"
    return {
        "holds": len(found),
        "newest": found[0].hold_id,
        "expired": expired,
        "line": f"{line}. {following}",
        "brief": f"{brief}. {following}",
    }


def would_wait(connection: Connection, plan: dict[str, Any]) -> dict[str, Any] | None:
    """The same about what a plan would hold. What was declined is held too, and waits for no person."""
    declined = Counter[tuple[str, str]]()
    for hold in holds.in_force(connection):
        if hold.state == HoldState.DECLINED:
            declined[hold.vendor, hold.rule] += hold.rows
    would = Counter[tuple[str, str]]()
    for vendor in plan["vendors"]:
        for one in vendor["held"]:
            would[vendor["vendor"], one["rule"]] += one["rows"]
    left = would - declined
    if not left:
        return None
    stores, rules = sorted({vendor for vendor, _ in left}), sorted({rule for _, rule in left})
    line = (
        f"{left.total():,} changes of {len(stores):,} stores ({some_of(stores)}) would be held, rules {', '.join(rules)}."
        " Next: look at them in the ERP; a sync sends the others, and `shelfsync holds list` has them then"
    )
    return {"line": line, "brief": f"{left.total():,} changes would be held"}


def ask(context: Context, key: str, *, most: int = 1024) -> list[dict[str, Any]]:
    """Assigns the open holds without a question to this caller: `{"hold", "label"}` each. The same key gets the same holds again.

    `most`: how many a caller can ask about. The next caller gets the others.
    """
    with context.engine.begin() as connection:
        return [{"hold": hold.hold_id, "label": hold.label} for hold in holds.ask(connection, key, most=most)]


def as_values(hold: Hold) -> dict[str, Any]:
    """One hold as plain values."""
    also = ("label", "may_be_approved", "may_be_reopened", "mark")
    return {name: getattr(hold, name) for name in (*hold.__dataclass_fields__, *also)}


def shown(context: Context, hold_id: int, *, first: int = 0, rows: int | None = None) -> dict[str, Any]:
    """One hold with its decisions, oldest first, and its rows: those whose price moves most come first, then by SKU.

    `first` and `rows` select a page of the rows. A row has `sku`, and for price, quantity, active and max_sales_quantity the held value
    and the one known when the hold began (`…_before`). `move` is the new price divided by the old one, None if one is missing.
    `may_be_approved`: it is open, and no newer extract has other rows. `may_be_reopened`: it is declined or expired instead.
    `mark`: what an answer names, so that it decides exactly what is shown here.
    """
    with context.engine.connect() as connection:
        hold = holds.read(connection, hold_id)
        decided = holds.decisions_of(connection, hold_id)
        before = None if hold is None else _before(connection, hold)
    if hold is None:
        raise DataError(f"holds: there is no hold {hold_id}; `shelfsync holds list` shows them")
    table = with_before(context, context.lake.read_table(hold.rows_path), before)
    return {**as_values(hold), "decisions": decided, "rows_shown": ordered(table, first=first, rows=rows)}


def _before(connection: Connection, hold: Hold) -> str | None:
    """Lake: the values known when the hold began. If they were not recorded, the present ones of an open hold; None: unknown."""
    if hold.before_path is not None:
        return hold.before_path
    base = vendors.current_baseline(connection, hold.vendor) if hold.state == HoldState.OPEN else None
    return None if base is None else base.known_path


def with_before(context: Context, rows: Any, base_path: str | None) -> Any:
    """The rows with the baseline's value beside each field, and the ratio of the prices."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.rows.alignment import aligned, column
    from shelfsync.schemas import BASELINE, FIELDS

    baseline = context.lake.read_or_empty(base_path, BASELINE)
    before = aligned(baseline, column(rows, "sku"), FIELDS)
    for name in FIELDS:
        rows = rows.append_column(f"{name}_before", before[name])
    new, old = (pc.cast(values, pa.float64()) for values in (column(rows, "price"), before["price"]))
    usable = pc.greater(old, 0).fill_null(False)
    return rows.append_column(
        "move", pc.if_else(usable, pc.divide(new, pc.if_else(usable, old, 1.0)), pa.scalar(None, pa.float64()))
    )


def ordered(table: Any, *, first: int = 0, rows: int | None = None) -> list[dict[str, Any]]:
    """The rows with the largest move of the price first, up or down alike."""
    import pyarrow.compute as pc

    safe = pc.if_else(pc.greater_equal(table["move"], 0).fill_null(False), table["move"], 1.0)
    far = pc.abs(pc.ln(safe))  # infinite for a price of zero
    keyed = table.append_column("far", far).sort_by([("far", "descending"), ("sku", "ascending")])
    found: list[dict[str, Any]] = keyed.drop_columns(["far"]).slice(first, rows).to_pylist()
    return found


def asked(context: Context, hold_ids: Collection[int], thresholds: dict[str, Any] | None = None) -> dict[str, Any]:
    """What an approval of these holds will do: `{"stake", "moves", "lines", "marks", "mark"}`.

    `thresholds`: the approval is only of what these let through. `marks`: each hold's, by number; `mark`: of all together.
    """
    stakes, moves, marks = [], [], {}
    for hold_id in hold_ids:
        with context.engine.connect() as connection:
            hold = holds.read(connection, hold_id)
            before = None if hold is None else _before(connection, hold)
        assert hold is not None, "the caller has looked it up"
        marks[hold_id] = hold.mark
        held = None if thresholds is None else let_through(context, hold_id, thresholds)
        table = with_before(context, context.lake.read_table(hold.rows_path) if held is None else held, before)
        stakes.append(stake.stake(table))
        moves += [{**row, "vendor": hold.vendor} for row in ordered(table, rows=stake.MOVES)]
    moves = sorted(moves, key=_distance, reverse=True)[: stake.MOVES]
    total = stake.summed(stakes)
    mark = hashlib.sha256(f"{sorted(marks.items())} {thresholds}".encode()).hexdigest()[:16]
    return {"stake": total, "moves": moves, "lines": [*stake.lines(total, moves)], "marks": marks, "mark": mark}


def _distance(row: dict[str, Any]) -> float:
    """How far a price moves, up or down alike; to nothing is the farthest."""
    move = row["move"]
    return 0.0 if move is None else abs(math.log(move)) if move > 0 else math.inf


def question(context: Context, hold_id: int, *, key: str | None = None, pages: str | None) -> dict[str, Any] | None:
    """The question for a person: `{"subject", "body", "left_s", "look_s", "thresholds"}`; None if it need not be asked.

    `left_s`: until the hold expires; `look_s`: until the next look whether it was decided elsewhere. `key`: the run of Airflow that asks. A hold that was reopened since is asked about by a newer run.
    """
    with context.engine.connect() as connection:
        hold = holds.read(connection, hold_id)
        left_s = holds.left_s(connection, hold_id)
        look_s = max(LOOK_S, LOOK_EACH_S * holds.open_count(connection))
    if hold is None or not hold.may_be_approved or key not in {None, hold.asked_by}:
        return None
    link = None if pages is None else f"{pages}/holds/{hold_id}"
    subject = f"{hold.vendor}: send what {hold.rule} holds? ({hold.rows} rows)"
    body = markdown(context, hold_id, link=link)
    return {"subject": subject, "body": body, "left_s": left_s, "look_s": look_s, "thresholds": hold.thresholds}


def markdown(context: Context, hold_id: int, *, link: str | None) -> str:
    """A hold for a person who decides in Airflow: the message, the top rows, and where to see all rows."""
    hold = shown(context, hold_id, rows=TOP_ROWS)
    head = [
        hold["message"],
        "",
        "Approval does this, at once and without a further question:",
        "",
        *(f"- {_text(line)}" for line in asked(context, [hold_id])["lines"]),
        "",
        f"Vendor **{_text(hold['vendor'])}**, rule **{hold['rule']}**, {hold['rows']} rows, held first by run {hold['first_run_id']}.",
        "Everything else of this vendor has been sent. Approve: these values are sent. Decline: they stay held until the ERP changes them.",
        "The first decision stands. If the hold is decided elsewhere, this question closes by itself and an answer does nothing.",
        f"All rows: {link}" if link else f"All rows: `shelfsync holds show {hold_id}`",
        "",
        "| sku | change | price | quantity | active |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*head, *(_markdown_row(row) for row in hold["rows_shown"])])


def _markdown_row(row: dict[str, Any]) -> str:
    cells = [_text(row["sku"]), row["change"]]
    cells += [_pair(row[f"{name}_before"], row[name]) for name in ("price", "quantity", "active")]
    return "| " + " | ".join(cells) + " |"


def _pair(before: object, now: object) -> str:
    return "" if now is None else f"{_shown(before)} → {_shown(now)}"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "?" if value is None else str(value)


def _text(text: str) -> str:
    """Escapes a text of the ERP for a table in Markdown."""
    return "".join(f"\\{sign}" if sign in r"\`*_{}[]()#+-.!|<>~" else sign for sign in text)


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

    case, _ = read_case(context, row, row.delta_path or "")
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
