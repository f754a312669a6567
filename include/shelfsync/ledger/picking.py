"""Picking results: durable before the store is told so, worked on by one process at a time, each with one end.

Whoever works on one holds the lease of its order: every writing here begins with `lease.hold`, and finds out when it is lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.ledger.instant import after, instant
from shelfsync.ledger.order_tables import picking_result

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.ledger.leases import Lease

OPEN = ("waiting", "sending", "answered")
_SET_ASIDE = picking_result.c.state == sa.literal_column("'set_aside'")
"""Its text is that of an index, because a plan for any state could not use it."""


@dataclass(frozen=True)
class Result:
    """One result and how far it is."""

    result_no: int
    order_id: str
    result_id: str
    body: str = field(repr=False)
    action: str
    state: str
    attempts: int
    looks: int
    base_updated_at: dt.datetime | None
    feedback: Any = field(repr=False)
    vendor: str | None = None
    """The store whose secret brought it; None: it did not come over HTTP."""


def put(
    connection: Connection,
    *,
    order_id: str,
    result_id: str,
    source: str,
    digest: str,
    body: str,
    action: str,
    vendor: str | None = None,
) -> str:
    """new, known (the same came before) or other (the same name with another content came before)."""
    values = {
        "order_id": order_id,
        "result_id": result_id,
        "source": source,
        "vendor": vendor,
        "digest": digest,
        "body": body,
        "action": action,
    }
    made = insert(picking_result).values(values).on_conflict_do_nothing().returning(picking_result.c.result_no)
    if connection.execute(made).one_or_none() is not None:
        return "new"
    same = sa.and_(picking_result.c.order_id == order_id, picking_result.c.result_id == result_id)
    kept = connection.execute(sa.select(picking_result.c.digest, picking_result.c.vendor).where(same)).one()
    return "known" if kept.digest == digest and kept.vendor in {None, vendor} else "other"


def digests(connection: Connection, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """(order_id, result_id) -> digest of those that are stored."""
    name = sa.tuple_(picking_result.c.order_id, picking_result.c.result_id)
    found = sa.select(picking_result.c.order_id, picking_result.c.result_id, picking_result.c.digest)
    return {(row.order_id, row.result_id): row.digest for row in connection.execute(found.where(name.in_(names)))}


def due(
    connection: Connection, *, at_most: int, order_ids: Iterable[str] = (), result_no: int | None = None
) -> Sequence[Result]:
    """The first open result of each order whose time has come: an order's results go one after the other, in order of arrival."""
    earlier = picking_result.alias("earlier")
    first = ~sa.exists().where(
        earlier.c.order_id == picking_result.c.order_id,
        earlier.c.result_no < picking_result.c.result_no,
        earlier.c.state.in_(OPEN),
    )
    found = sa.select(picking_result).where(
        picking_result.c.state.in_(OPEN),
        sa.or_(picking_result.c.next_try_at.is_(None), picking_result.c.next_try_at <= instant()),
        first,
    )
    if names := list(order_ids):
        found = found.where(picking_result.c.order_id.in_(names))
    if result_no is not None:
        found = found.where(picking_result.c.result_no == result_no)
    return [_read(row) for row in connection.execute(found.order_by(picking_result.c.result_no).limit(at_most))]


def sending(connection: Connection, lease: Lease, result_no: int, *, base_updated_at: object) -> None:
    """Committed before the request leaves: from here on the platform may have it."""
    values = {
        "state": "sending",
        "attempts": picking_result.c.attempts + 1,
        "base_updated_at": base_updated_at,
        "sent_at": instant(),
    }
    _set(connection, lease, result_no, values)


def answered(connection: Connection, lease: Lease, result_no: int, *, confirm_after_s: float) -> None:
    """The platform said yes; somebody else has to say so too before it is done."""
    values = {
        "state": "answered",
        "error": None,
        "next_try_at": after(confirm_after_s),
        "looks": 0,
    }
    _set(connection, lease, result_no, values)


def fed_back(connection: Connection, lease: Lease, result_no: int, feedback: Any) -> None:
    """What UPDATE_CART answered."""
    _set(connection, lease, result_no, {"feedback": feedback})


def postponed(connection: Connection, lease: Lease, result_no: int, error: str | None, *, after_s: float) -> None:
    """Not now."""
    values = {
        "error": error,
        "next_try_at": after(after_s),
        "looks": picking_result.c.looks + 1,
    }
    _set(connection, lease, result_no, values)


def set_aside(connection: Connection, lease: Lease, result_no: int, why: str) -> None:
    """It cannot be worked on: the order's next result goes on, and this one waits for `retry`."""
    values = {"state": "set_aside", "error": why, "next_try_at": None}
    _set(connection, lease, result_no, values)


def retry(connection: Connection, order_id: str) -> int:
    """Has the results of this order that are set aside worked on again; how many. What may be with the platform is asked for first."""
    sent = sa.case((picking_result.c.attempts > 0, "sending"), else_="waiting")
    return connection.execute(
        picking_result.update()
        .where(picking_result.c.order_id == order_id, picking_result.c.state == "set_aside")
        .values(state=sent, error=None, looks=0)
    ).rowcount


def all_set_aside(connection: Connection, *, at_most: int) -> Sequence[Any]:
    """(order_id, result_id, error, received_at) of results that are set aside, the oldest first."""
    found = sa.select(
        picking_result.c.order_id, picking_result.c.result_id, picking_result.c.error, picking_result.c.received_at
    ).where(_SET_ASIDE)
    return connection.execute(found.order_by(picking_result.c.result_no).limit(at_most)).all()


def count_set_aside(connection: Connection) -> int:
    """How many they are."""
    found = sa.select(sa.func.count()).where(_SET_ASIDE)
    return connection.execute(found).scalar_one()


def settled(
    connection: Connection, lease: Lease, result_no: int, state: str, problems: Sequence[dict[str, str]] = ()
) -> None:
    """Its end: done, checked, refused or overtaken."""
    values = {
        "state": state,
        "problems": list(problems) or None,
        "error": None,
        "next_try_at": None,
        "settled_at": instant(),
        "reply_due": True,
    }
    _set(connection, lease, result_no, values)


def of_order(connection: Connection, order_id: str, *, vendor: str | None = None) -> list[dict[str, Any]]:
    """Every result of an order with what became of it, oldest first; nothing personal is in it. `vendor`: only what this store sent itself."""
    shown = ("result_id", "action", "state", "problems", "feedback", "error")
    found = sa.select(*(picking_result.c[name] for name in shown)).where(picking_result.c.order_id == order_id)
    if vendor is not None:
        found = found.where(picking_result.c.vendor == vendor)
    found = found.order_by(picking_result.c.result_no)
    return [_shown(row) for row in connection.execute(found)]


def reply(connection: Connection, result_no: int) -> dict[str, Any]:
    """What the store is told of a result."""
    row = connection.execute(sa.select(picking_result).where(picking_result.c.result_no == result_no)).one()
    return {"kind": "reply", "order_id": row.order_id, **_shown(row)}


def oldest_not_sent(connection: Connection) -> Sequence[Any]:
    """(orders, age of the oldest in seconds) of results of which nobody is sure yet that the platform has them."""
    age = sa.extract("epoch", instant() - sa.func.min(picking_result.c.received_at))
    found = sa.select(
        sa.func.count().label("orders"), age.label("age_s"), sa.func.max(picking_result.c.error).label("error")
    )
    return connection.execute(found.where(picking_result.c.state.in_(OPEN))).all()


def _set(connection: Connection, lease: Lease, result_no: int, values: dict[str, Any]) -> None:
    lease.hold(connection)
    connection.execute(picking_result.update().where(picking_result.c.result_no == result_no).values(values))


def _shown(row: Any) -> dict[str, Any]:
    return {
        "result_id": row.result_id,
        "action": row.action,
        "state": row.state,
        "messages": [one["message"] for one in row.problems or ()],
        "rules": [one["rule"] for one in row.problems or ()],
        "feedback": row.feedback,
        "error": row.error,
    }


def _read(row: Any) -> Result:
    return Result(
        row.result_no, row.order_id, row.result_id, row.body, row.action, row.state, row.attempts, row.looks,
        row.base_updated_at, row.feedback, row.vendor,
    )  # fmt: skip
