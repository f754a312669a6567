"""What stores have to be told: planned once, tried until they have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.ledger.instant import after, instant
from shelfsync.ledger.order_history import first_event
from shelfsync.ledger.order_tables import customer_order, hand_over, picking_result

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlalchemy.engine import Connection

OPEN = ("RECEIVED", "ACCEPTED")
"""States of an order that is still to be picked."""
READ_LATELY_S = 10.0
"""An answer of the platform that is not older need not be asked for again."""


@dataclass(frozen=True)
class HandOver:
    """One thing a store has to be told."""

    hand_over_id: int
    order_id: str
    vendor: str | None
    kind: str
    result_no: int
    state: str
    attempts: int
    looks: int
    """How often it was postponed, also before anything was written."""
    created_at: Any
    read_lately: bool
    """Whether the platform itself was asked for the order just now."""


def plan(connection: Connection, *, late_h: float) -> int:
    """Plans what is not planned yet, from what orders and results are now; how many. Done twice it plans nothing twice.

    new: an open order that is not long past its time. cancelled: an order that a store may have seen. reply: the end of a result.
    """
    made = _take_up_again(connection, late_h)
    fresh = sa.select(customer_order.c.order_id, sa.literal("new"), sa.literal(0)).where(
        customer_order.c.status.in_(OPEN),
        customer_order.c.vendor.is_not(None),
        _due() > after(-late_h * 3600),
        ~_has(customer_order.c.order_id, "new"),
    )
    seen = hand_over.alias("seen")
    cancelled = (
        sa.select(customer_order.c.order_id, sa.literal("cancelled"), sa.literal(0))
        .join(seen, sa.and_(seen.c.order_id == customer_order.c.order_id, seen.c.kind == "new", seen.c.attempts > 0))
        .where(customer_order.c.cancellation_due, ~_has(customer_order.c.order_id, "cancelled"))
    )
    replies = (
        sa.select(picking_result.c.order_id, sa.literal("reply"), picking_result.c.result_no)
        .join(customer_order, customer_order.c.order_id == picking_result.c.order_id)
        .where(picking_result.c.reply_due)
    )
    names = ["order_id", "kind", "result_no"]
    for wanted in (fresh, cancelled, replies):
        planned = insert(hand_over).from_select(names, wanted).on_conflict_do_nothing()
        made += connection.execute(planned, execution_options={"preserve_rowcount": True}).rowcount
    _leave_behind(connection)
    return made


def _leave_behind(connection: Connection) -> None:
    """Marks what asks for nothing more, so that the next minute does not read the years again; what somebody holds just now, the next time."""
    nobody_to_tell = ~sa.exists().where(
        hand_over.c.order_id == customer_order.c.order_id,
        hand_over.c.kind == "new",
        sa.or_(hand_over.c.state == "waiting", hand_over.c.attempts > 0),
    )
    over = (
        sa.select(customer_order.c.order_id)
        .where(customer_order.c.cancellation_due, sa.or_(_has(customer_order.c.order_id, "cancelled"), nobody_to_tell))
        .with_for_update(skip_locked=True, of=customer_order)
    )
    connection.execute(
        customer_order.update().where(customer_order.c.order_id.in_(over)).values(cancellation_due=False)
    )
    planned = sa.exists().where(
        hand_over.c.order_id == picking_result.c.order_id,
        hand_over.c.kind == "reply",
        hand_over.c.result_no == picking_result.c.result_no,
    )
    told = (
        sa.select(picking_result.c.result_no)
        .where(picking_result.c.reply_due, planned)
        .with_for_update(skip_locked=True)
    )
    connection.execute(picking_result.update().where(picking_result.c.result_no.in_(told)).values(reply_due=False))


def drop_overtaken(connection: Connection) -> int:
    """Takes back what no store can have seen and what is no longer so: a new order that is cancelled, or picked already."""
    moved_on = sa.exists().where(
        customer_order.c.order_id == hand_over.c.order_id, customer_order.c.status.not_in(OPEN)
    )
    return connection.execute(
        hand_over.update()
        .where(hand_over.c.kind == "new", hand_over.c.state == "waiting", moved_on)
        .values(state="dropped")
    ).rowcount


def drop_late(connection: Connection, *, late_h: float) -> int:
    """Takes back new orders that waited until they were long past their time; what was tried once, a store may have seen, and it stays."""
    late = sa.exists().where(customer_order.c.order_id == hand_over.c.order_id, _due() <= after(-late_h * 3600))
    return connection.execute(
        hand_over.update()
        .where(hand_over.c.kind == "new", hand_over.c.state == "waiting", hand_over.c.attempts == 0, late)
        .values(state="dropped")
    ).rowcount


def _take_up_again(connection: Connection, late_h: float) -> int:
    """New orders that were dropped untried, and are promised for a later time now."""
    in_time = sa.exists().where(
        customer_order.c.order_id == hand_over.c.order_id,
        customer_order.c.status.in_(OPEN),
        _due() > after(-late_h * 3600),
    )
    return connection.execute(
        hand_over.update()
        .where(hand_over.c.kind == "new", hand_over.c.state == "dropped", hand_over.c.attempts == 0, in_time)
        .values(state="waiting")
    ).rowcount


def due(connection: Connection, *, at_most: int, behind: int = 0) -> Sequence[HandOver]:
    """What is to be written now, oldest first, with numbers behind this one."""
    found = (
        sa.select(hand_over, customer_order.c.vendor, _read_lately())
        .join(customer_order, customer_order.c.order_id == hand_over.c.order_id)
        .where(
            hand_over.c.state == "waiting",
            hand_over.c.hand_over_id > behind,
            sa.or_(hand_over.c.next_try_at.is_(None), hand_over.c.next_try_at <= instant()),
        )
    )
    rows = connection.execute(found.order_by(hand_over.c.hand_over_id).limit(at_most))
    return [_read(row) for row in rows]


def written(connection: Connection, *, at_most: int, behind: int = 0) -> Sequence[HandOver]:
    """What stores can see and are not known to have, oldest first, with numbers behind this one."""
    found = (
        sa.select(hand_over, customer_order.c.vendor, _read_lately())
        .join(customer_order, customer_order.c.order_id == hand_over.c.order_id)
        .where(hand_over.c.state == "written", hand_over.c.hand_over_id > behind)
    )
    rows = connection.execute(found.order_by(hand_over.c.hand_over_id).limit(at_most))
    return [_read(row) for row in rows]


def trying(connection: Connection, hand_over_id: int, *, again_after_s: float) -> bool:
    """Committed before anything is written: from here on the store may have seen it. False: it is no longer waiting, or another's."""
    free = sa.or_(hand_over.c.next_try_at.is_(None), hand_over.c.next_try_at <= instant())
    return (
        connection.execute(
            hand_over.update()
            .where(hand_over.c.hand_over_id == hand_over_id, hand_over.c.state == "waiting", free)
            .values(attempts=hand_over.c.attempts + 1, next_try_at=after(again_after_s))
        ).rowcount
        == 1
    )


def was_written(connection: Connection, hand_over_id: int, *, taken: bool) -> None:
    """The store can see it; `taken`: it has said that it has it."""
    values = {"state": "taken" if taken else "written", "written_at": instant(), "error": None}
    values |= {"taken_at": instant()} if taken else {}
    connection.execute(hand_over.update().where(hand_over.c.hand_over_id == hand_over_id).values(values))


def postponed(connection: Connection, hand_over_id: int, error: str, *, after_s: float) -> None:
    """It did not work; not before so long."""
    values = {"error": error, "next_try_at": after(after_s), "looks": hand_over.c.looks + 1}
    connection.execute(
        hand_over.update()
        .where(hand_over.c.hand_over_id == hand_over_id, hand_over.c.state == "waiting")
        .values(values)
    )


def were_taken(connection: Connection, hand_over_ids: Collection[int]) -> int:
    """The store has these."""
    return connection.execute(
        hand_over.update()
        .where(hand_over.c.hand_over_id.in_(list(hand_over_ids)), hand_over.c.state == "written")
        .values(state="taken", taken_at=instant())
    ).rowcount


def oldest_not_taken(connection: Connection, *, late_h: float) -> Sequence[Any]:
    """(vendor, how many, age of the oldest in seconds) of what no store has taken: open orders, planned or not, and cancellations.

    What was handed over counts however long ago it was promised; what could not be is `missed` from then on.
    """
    has_it = _has(customer_order.c.order_id, "new", "taken")
    is_told = _has(customer_order.c.order_id, "new", "waiting", "written")
    new = sa.select(customer_order.c.vendor, customer_order.c.first_seen_at.label("since")).where(
        customer_order.c.status.in_(OPEN), sa.or_(_due() > after(-late_h * 3600), is_told), ~has_it
    )
    cancelled = (
        sa.select(customer_order.c.vendor, hand_over.c.created_at)
        .join(customer_order, customer_order.c.order_id == hand_over.c.order_id)
        .where(hand_over.c.state.in_(["waiting", "written"]), hand_over.c.kind == "cancelled")
    )
    waiting = sa.union_all(new, cancelled).subquery()
    age = sa.extract("epoch", instant() - sa.func.min(waiting.c.since))
    found = sa.select(waiting.c.vendor, sa.func.count().label("orders"), age.label("age_s"))
    return connection.execute(found.group_by(waiting.c.vendor).order_by(age.desc())).all()


def missed(connection: Connection, *, late_h: float) -> Sequence[Any]:
    """(vendor, how many, promise of the oldest) of open orders that are too late to be handed over: found late, or never written in time.

    What was placed before the first event ever is nobody's to pick: it was there before we were.
    """
    found = sa.select(
        customer_order.c.vendor, sa.func.count().label("orders"), sa.func.min(_due()).label("promised_for")
    ).where(
        customer_order.c.status.in_(OPEN),
        _due() <= after(-late_h * 3600),
        sa.or_(
            sa.and_(
                customer_order.c.placed_at > first_event().scalar_subquery(), ~_has(customer_order.c.order_id, "new")
            ),
            _has(customer_order.c.order_id, "new", "dropped"),
        ),
    )
    return connection.execute(found.group_by(customer_order.c.vendor)).all()


def storeless(connection: Connection, *, again_after_s: float, at_most: int) -> Sequence[str]:
    """Open orders of which nobody has said whose they are, and of which the platform was not asked lately; those asked in vain come last."""
    asked, again = customer_order.c.read_back_at, customer_order.c.ask_again_at
    found = sa.select(customer_order.c.order_id).where(
        customer_order.c.status.in_(OPEN),
        customer_order.c.vendor.is_(None),
        sa.or_(asked.is_(None), asked < after(-again_after_s)),
        sa.or_(again.is_(None), again <= instant()),
    )
    in_turn = found.order_by(again.nulls_first(), customer_order.c.first_seen_at)
    return connection.execute(in_turn.limit(at_most)).scalars().all()


def _due() -> sa.ColumnElement[Any]:
    """When the customer expects it, as far as it was told."""
    return sa.func.coalesce(customer_order.c.promised_for, customer_order.c.placed_at, customer_order.c.first_seen_at)


def _read_lately() -> sa.ColumnElement[bool]:
    return sa.func.coalesce(customer_order.c.read_back_at > after(-READ_LATELY_S), sa.false()).label("read_lately")


def _has(order_id: sa.ColumnElement[str], kind: str, *states: str) -> sa.ColumnElement[bool]:
    other = hand_over.alias(f"planned_{kind}")
    found = sa.exists().where(other.c.order_id == order_id, other.c.kind == kind)
    return found.where(other.c.state.in_(states)) if states else found


def _read(row: Any) -> HandOver:
    return HandOver(
        row.hand_over_id,
        row.order_id,
        row.vendor,
        row.kind,
        row.result_no,
        row.state,
        row.attempts,
        row.looks,
        row.created_at,
        row.read_lately,
    )
