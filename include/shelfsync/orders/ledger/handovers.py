"""Hand-overs to stores: planned once, tried until the store has the document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.orders.ledger.not_handed_over import plan_rescheduled
from shelfsync.orders.ledger.order_gaps import first_event
from shelfsync.orders.ledger.orders import OPEN
from shelfsync.orders.ledger.tables import customer_order, hand_over, picking_result
from shelfsync.orders.ledger.too_late import expected_at, too_late
from shelfsync.store.metadata import after, instant

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlalchemy.engine import Connection

READ_LATELY_S = 10.0
"""If the platform was asked for an order within this time, the answer is used again."""


@dataclass(frozen=True)
class HandOver:
    """One document for a store."""

    hand_over_id: int
    order_id: str
    vendor: str | None
    kind: str
    result_no: int
    state: str
    attempts: int
    postponements: int
    """How often it was postponed, also before the first attempt."""
    created_at: Any
    read_lately: bool
    """Whether the order was read back within `READ_LATELY_S`."""


def plan(connection: Connection, *, late_hours: float) -> int:
    """Plans the missing hand-overs from the current orders and results; returns how many. Idempotent.

    new: an open order that is not long past its time. cancelled: an order that a store may have seen. reply: the outcome of
    a result.
    """
    count = plan_rescheduled(connection, late_hours)
    fresh = sa.select(customer_order.c.order_id, sa.literal("new"), sa.literal(0)).where(
        customer_order.c.status.in_(OPEN),
        customer_order.c.vendor.is_not(None),
        ~too_late(late_hours),
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
        count += connection.execute(planned, execution_options={"preserve_rowcount": True}).rowcount
    _clear_due_flags(connection)
    return count


def _clear_due_flags(connection: Connection) -> None:
    """Clears the flags of planned cancellations and replies, so the next run does not read them. Skips locked rows."""
    no_recipient = ~sa.exists().where(
        hand_over.c.order_id == customer_order.c.order_id,
        hand_over.c.kind == "new",
        sa.or_(hand_over.c.state == "waiting", hand_over.c.attempts > 0),
    )
    over = (
        sa.select(customer_order.c.order_id)
        .where(customer_order.c.cancellation_due, sa.or_(_has(customer_order.c.order_id, "cancelled"), no_recipient))
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
    planned_replies = (
        sa.select(picking_result.c.result_no)
        .where(picking_result.c.reply_due, planned)
        .with_for_update(skip_locked=True)
    )
    connection.execute(
        picking_result.update().where(picking_result.c.result_no.in_(planned_replies)).values(reply_due=False)
    )


def due(connection: Connection, *, at_most: int, behind: int = 0) -> list[HandOver]:
    """The hand-overs to write now, with numbers above `behind`, oldest first."""
    now = sa.or_(hand_over.c.next_try_at.is_(None), hand_over.c.next_try_at <= instant())
    return _read(connection, hand_over.c.state == "waiting", now, at_most=at_most, behind=behind)


def written(connection: Connection, *, at_most: int, behind: int = 0) -> list[HandOver]:
    """The written hand-overs that are not known to be taken, with numbers above `behind`, oldest first."""
    return _read(connection, hand_over.c.state == "written", at_most=at_most, behind=behind)


def _read(connection: Connection, *conditions: sa.ColumnElement[bool], at_most: int, behind: int) -> list[HandOver]:
    asked_lately = customer_order.c.read_back_at > after(-READ_LATELY_S)
    query = (
        sa.select(
            *(hand_over.c[name] for name in HandOver.__dataclass_fields__ if name in hand_over.c),
            customer_order.c.vendor,
            sa.func.coalesce(asked_lately, sa.false()).label("read_lately"),
        )
        .join(customer_order, customer_order.c.order_id == hand_over.c.order_id)
        .where(hand_over.c.hand_over_id > behind, *conditions)
    )
    rows = connection.execute(query.order_by(hand_over.c.hand_over_id).limit(at_most))
    return [HandOver(**row) for row in rows.mappings()]


def begin_attempt(connection: Connection, hand_over_id: int, *, again_after_s: float) -> bool:
    """Commit this before the writing: from then on, the store may have seen it. False: another process has it, or it ended."""
    free = sa.or_(hand_over.c.next_try_at.is_(None), hand_over.c.next_try_at <= instant())
    return (
        connection.execute(
            hand_over.update()
            .where(hand_over.c.hand_over_id == hand_over_id, hand_over.c.state == "waiting", free)
            .values(attempts=hand_over.c.attempts + 1, next_try_at=after(again_after_s))
        ).rowcount
        == 1
    )


def mark_written(connection: Connection, hand_over_id: int, *, taken: bool) -> None:
    """The store can see it. `taken`: the store has confirmed it."""
    values = {"state": "taken" if taken else "written", "written_at": instant(), "error": None}
    values |= {"taken_at": instant()} if taken else {}
    connection.execute(hand_over.update().where(hand_over.c.hand_over_id == hand_over_id).values(values))


def postpone(connection: Connection, hand_over_id: int, error: str, *, after_s: float) -> None:
    """The attempt failed. The next one is after `after_s` seconds."""
    values = {"error": error, "next_try_at": after(after_s), "postponements": hand_over.c.postponements + 1}
    connection.execute(
        hand_over.update()
        .where(hand_over.c.hand_over_id == hand_over_id, hand_over.c.state == "waiting")
        .values(values)
    )


def mark_taken(connection: Connection, hand_over_ids: Collection[int]) -> int:
    """The store has these; returns how many were not marked yet."""
    return connection.execute(
        hand_over.update()
        .where(hand_over.c.hand_over_id.in_(list(hand_over_ids)), hand_over.c.state == "written")
        .values(state="taken", taken_at=instant())
    ).rowcount


def missed(connection: Connection, *, late_hours: float) -> Sequence[Any]:
    """(vendor, orders, promised_for of the oldest) of open orders that are too late to be handed over.

    They were found late, or never written in time. Orders from before the first event are left out: they are older than
    this installation.
    """
    query = sa.select(
        customer_order.c.vendor, sa.func.count().label("orders"), sa.func.min(expected_at()).label("promised_for")
    ).where(
        customer_order.c.status.in_(OPEN),
        too_late(late_hours),
        sa.or_(
            sa.and_(
                customer_order.c.placed_at > first_event().scalar_subquery(), ~_has(customer_order.c.order_id, "new")
            ),
            _has(customer_order.c.order_id, "new", "dropped"),
        ),
    )
    return connection.execute(query.group_by(customer_order.c.vendor)).all()


def without_vendor(connection: Connection, *, again_after_s: float, at_most: int) -> Sequence[str]:
    """Open orders without a vendor that were not requested lately. Orders with a failed request come last."""
    asked, again = customer_order.c.read_back_at, customer_order.c.ask_again_at
    query = sa.select(customer_order.c.order_id).where(
        customer_order.c.status.in_(OPEN),
        customer_order.c.vendor.is_(None),
        sa.or_(asked.is_(None), asked < after(-again_after_s)),
        sa.or_(again.is_(None), again <= instant()),
    )
    in_turn = query.order_by(again.nulls_first(), customer_order.c.first_seen_at)
    return connection.execute(in_turn.limit(at_most)).scalars().all()


def _has(order_id: sa.ColumnElement[str], kind: str, *states: str) -> sa.ColumnElement[bool]:
    other = hand_over.alias(f"planned_{kind}")
    query = sa.exists().where(other.c.order_id == order_id, other.c.kind == kind)
    return query.where(other.c.state.in_(states)) if states else query
