"""Holds for people: which there are, the rows of one beside the values before, and what an approval will do."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shelfsync import display
from shelfsync.decisions import held_row_order as moves
from shelfsync.decisions.ledger import hold_expiry, holds
from shelfsync.decisions.ledger.holds import known as known_hold
from shelfsync.decisions.state import HoldState
from shelfsync.decisions.steps.other_thresholds import need_thresholds
from shelfsync.errors import DataError, some_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.context import Context
    from shelfsync.decisions.hold import Hold
    from shelfsync.decisions.state import Subject


def would_wait(what: str, names: Iterable[str], rules: Iterable[str]) -> str:
    """The sentence about what a plan would hold. `what`: how many rows, and of how many stores or campaigns, which `names` are."""
    return (
        f"{what} ({some_of(sorted(names))}) would be held, rules {', '.join(sorted(rules))}."
        " Next: look at them in the ERP; a sync sends the others, and `shelfsync holds list` has them then"
    )


def listed(context: Context, *, states: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The last holds and every open one, newest first: every column of the ledger."""
    with context.engine.connect() as connection:
        return [as_values(hold) for hold in holds.newest(connection, *states)]


def in_force(context: Context) -> list[dict[str, Any]]:
    """The holds whose rows are held now, newest first: open, declined or expired, and still in the newest extract."""
    with context.engine.connect() as connection:
        return [as_values(hold) for hold in holds.in_force(connection)]


def open_by_rule(context: Context) -> list[dict[str, Any]]:
    """What one decision can close: the open holds, as `by_rule` has them."""
    with context.engine.connect() as connection:
        return by_rule(hold for hold in holds.in_force(connection) if hold.state == HoldState.OPEN)


def by_rule(found: Iterable[Hold]) -> list[dict[str, Any]]:
    """Of each rule `subject`, `rule`, `holds`, `campaigns`, `vendors`, `rows` and `newest` (its last hold)."""
    of_rules: dict[str, list[Hold]] = {}
    for hold in found:
        of_rules.setdefault(hold.rule, []).append(hold)
    return [
        {
            "subject": of_rule[0].subject,
            "rule": rule,
            "holds": len(of_rule),
            "campaigns": len({hold.campaign for hold in of_rule}),
            "vendors": len({hold.vendor for hold in of_rule}),
            "rows": sum(hold.rows for hold in of_rule),
            "newest": max(hold.hold_id for hold in of_rule),
        }
        for rule, of_rule in sorted(of_rules.items())
    ]


@dataclass(frozen=True)
class Waiting:
    """Holds that wait for a person: open ones, and those that expired without a decision, as it may be that no person has seen them."""

    holds: list[Hold]
    """Newest first, at least one."""
    first: Hold | None
    """The open one that expires first."""
    expired: int

    @property
    def rules(self) -> list[str]:
        """The rules that hold them."""
        return sorted({hold.rule for hold in self.holds})

    @property
    def following(self) -> str:
        """The next command."""
        return f"Next: `shelfsync holds list{' --state held' if self.expired else ''}`"


def waiting(connection: Connection, subject: Subject, vendors: Collection[str] = ()) -> Waiting | None:
    """What waits for a person of a subject, at these vendors or at all; None: nothing. A declined hold waits for no person."""
    undecided = [hold for hold in holds.in_force(connection, subject) if hold.state != HoldState.DECLINED]
    found = [hold for hold in undecided if not vendors or hold.vendor in vendors]
    if not found:
        return None
    still_open = [hold for hold in found if hold.state == HoldState.OPEN]
    first = min(still_open, key=lambda hold: hold.expires_at, default=None)
    return Waiting(found, first, len(found) - len(still_open))


def expiry(connection: Connection, first: Hold) -> str:
    """When the time of an open hold ends, or that it has ended: while the source cannot be read, no run expires a hold."""
    left_s, at = hold_expiry.left_s(connection, first.hold_id), display.minute(first.expires_at)
    if left_s <= 0:
        return f"The time of hold {first.hold_id} ended at {at} without a decision; its changes stay held"
    return f"Hold {first.hold_id} expires first, at {at} (in {left_s / 3600:.1f} h); then its changes stay held"


def until(first: Hold, left_s: float) -> str:
    """The same as the end of a sentence about several holds."""
    at = display.minute(first.expires_at)
    return f"the first until {at}" if left_s > 0 else f"the time of the first ended at {at}"


def known(context: Context, numbers: Iterable[int]) -> list[int]:
    """The numbers, each once; a DataError names one that no hold has."""
    with context.engine.connect() as connection:
        return list(dict.fromkeys(known_hold(connection, number).hold_id for number in numbers))


def undecided(context: Context, numbers: Iterable[int]) -> list[int]:
    """Those of these holds that may be approved now, in time."""
    with context.engine.connect() as connection:
        found = [known_hold(connection, number) for number in numbers if hold_expiry.left_s(connection, number) > 0]
    return [hold.hold_id for hold in found if hold.may_be_approved]


def open_of(
    context: Context,
    *,
    rule: str | None = None,
    campaign: str | None = None,
    vendors: Collection[str] = (),
    newest: int | None = None,
) -> list[int]:
    """The holds of a rule, of a campaign or of both that wait for a decision, oldest first: of these vendors or of all, up to `newest`.

    A DataError: there is none.
    """
    with context.engine.connect() as connection:
        found = [hold for hold in holds.in_force(connection) if hold.state == HoldState.OPEN]
    chosen = sorted(
        hold.hold_id
        for hold in found
        if rule in {None, hold.rule}
        and campaign in {None, hold.campaign}
        and (not vendors or hold.vendor in vendors)
        and (newest is None or hold.hold_id <= newest)
    )
    if not chosen:
        named = (("rule", rule), ("campaign", campaign))
        of = " and ".join(f"{name} {value!r}" for name, value in named if value is not None)
        raise DataError(f"holds: no hold of {of} waits for a decision; `shelfsync holds list` shows what does")
    return chosen


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


def shown(
    context: Context,
    hold_id: int,
    *,
    first: int = 0,
    rows: int | None = None,
    order: str = moves.ORDERS[0],
    category: str = "",
    sku: str = "",
) -> dict[str, Any]:
    """One hold with its decisions, oldest first, and its rows: by default those whose price moves most come first, then by SKU.

    `first` and `rows` select a page of the rows, of a category alone and of SKUs that begin with `sku` alone if these are named. A row has `sku`, its `name` or None, the `facts` of its subject, and each of the
    subject's `values` with the one before (`…_before`). `move` is the new price divided by the old one, None if one is missing;
    `percent` and `value` are those of `moves.in_order`.
    `may_be_approved`: it is open, and no newer extract has other rows. `may_be_reopened`: it is declined or expired instead.
    `mark`: what an answer names, so that it decides exactly what is shown here.
    """
    with context.engine.connect() as connection:
        hold = known_hold(connection, hold_id)
        decided = holds.decisions_of(connection, hold_id)
    subject = context.subjects[hold.subject]
    table = _in_words(context, hold, _sorted(context, hold, order, category, sku).slice(first, rows))
    columns = {"facts": subject.facts, "values": subject.values}
    return {**as_values(hold), **columns, "decisions": decided, "rows_shown": table}


def every_row(
    context: Context, hold_id: int, *, order: str, category: str, sku: str = "", most: int
) -> tuple[list[str], Iterator[list[dict[str, Any]]]]:
    """The columns of a file of a hold's rows, and all rows as `shown` has them, `most` at a time. The rows are read and sorted once."""
    with context.engine.connect() as connection:
        hold = known_hold(connection, hold_id)
    subject = context.subjects[hold.subject]
    pairs = [f"{name}{end}" for name in subject.values for end in ("_before", "")]
    moved = ["percent", "value"] if "price" in subject.values else []
    table = _sorted(context, hold, order, category, sku)
    parts = (_in_words(context, hold, table.slice(first, most)) for first in range(0, table.num_rows, most))
    return ["sku", "name", *subject.facts, *pairs, *moved], parts


def _sorted(context: Context, hold: Hold, order: str, category: str, sku: str) -> pa.Table:
    """The rows of a hold, of a category alone and of SKUs that begin with `sku` alone if these are named."""
    import pyarrow.compute as pc

    subject = context.subjects[hold.subject]
    held = subject.rows(context, hold)
    if category:
        held = _among(held, subject.skus_of_category(context, hold.vendor, category))
    if sku:
        held = held.filter(pc.starts_with(held["sku"], sku))
    return moves.in_order(held, order)


def _in_words(context: Context, hold: Hold, table: pa.Table) -> list[dict[str, Any]]:
    """Each row with the name of its product, and its facts as a person reads them."""
    subject, rows = context.subjects[hold.subject], table.to_pylist()
    names = subject.names(context, hold.vendor, {row["sku"] for row in rows})
    return [
        {**row, **{fact: subject.in_words(fact, row[fact]) for fact in subject.facts}, "name": names.get(row["sku"])}
        for row in rows
    ]


def categories(context: Context, hold: Mapping[str, Any]) -> list[str]:
    """Those of a shown hold's store."""
    return context.subjects[hold["subject"]].categories(context, hold["vendor"])


def _among(held: pa.Table, skus: list[str]) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    return held.filter(pc.is_in(held["sku"], value_set=pa.array(skus, pa.string())))


def asked(context: Context, hold_ids: Collection[int], thresholds: dict[str, Any] | None = None) -> dict[str, Any]:
    """What an approval of these holds will do: `{"lines", "marks", "mark"}`.

    `thresholds`: the approval is only of what these release. `marks`: each hold's, by number; `mark`: of all together.
    """
    with context.engine.connect() as connection:
        found = [known_hold(connection, hold_id) for hold_id in hold_ids]
    for hold in found:
        need_thresholds(hold, thresholds)
    lines = [
        line
        for name in sorted({hold.subject for hold in found})
        for line in context.subjects[name].stake(context, [hold for hold in found if hold.subject == name], thresholds)[
            "lines"
        ]
    ]
    marks = {hold.hold_id: hold.mark for hold in found}
    mark = hashlib.sha256(f"{sorted(marks.items())} {thresholds}".encode()).hexdigest()[:16]
    return {"lines": lines, "marks": marks, "mark": mark}
