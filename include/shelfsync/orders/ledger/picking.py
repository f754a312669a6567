"""Picking results: durable before the answer to the store, processed by one process at a time, each with one outcome.

A process that works on a result has the lease of its order. Every write here calls `lease.hold`, which fails if the lease is
lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.orders.ledger.tables import order_product, picking_result
from shelfsync.store.metadata import after, instant

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Iterable, Sequence
    from decimal import Decimal

    from sqlalchemy.engine import Connection

    from shelfsync.vendors.lease import Lease

OPEN = ("waiting", "sending", "answered")
_QUARANTINED = picking_result.c.state == sa.literal_column("'quarantined'")
"""The state is literal, because a plan with a parameter cannot use the partial index."""


@dataclass(frozen=True)
class Result:
    """One result and its state."""

    result_no: int
    order_id: str
    result_id: str
    body: str = field(repr=False)
    action: str
    state: str
    attempts: int
    postponements: int
    base_updated_at: dt.datetime | None
    feedback: Any = field(repr=False)
    vendor: str | None = None
    """The store whose secret was sent with it; None: it was not sent over HTTP."""


def put(
    connection: Connection,
    order_id: str,
    result_id: str,
    *,
    source: str,
    vendor: str | None,
    digest: str,
    body: str,
    action: str,
) -> str:
    """Stores a result; returns new, known (a repeat) or conflict (the result_id belongs to another content)."""
    insertion = insert(picking_result).values(
        order_id=order_id,
        result_id=result_id,
        source=source,
        vendor=vendor,
        digest=digest,
        body=body,
        action=action,
    )
    new = insertion.on_conflict_do_nothing().returning(picking_result.c.result_no)
    if connection.execute(new).one_or_none() is not None:
        return "new"
    same = (picking_result.c.order_id == order_id, picking_result.c.result_id == result_id)
    stored = connection.execute(sa.select(picking_result.c.digest, picking_result.c.vendor).where(*same)).one()
    known = stored.digest == digest and stored.vendor in {None, vendor}
    return "known" if known else "conflict"


def digests(connection: Connection, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """(order_id, result_id) -> digest of the stored ones."""
    name = sa.tuple_(picking_result.c.order_id, picking_result.c.result_id)
    query = sa.select(picking_result.c.order_id, picking_result.c.result_id, picking_result.c.digest)
    return {(row.order_id, row.result_id): row.digest for row in connection.execute(query.where(name.in_(names)))}


def due(
    connection: Connection, *, at_most: int, order_ids: Iterable[str] = (), result_no: int | None = None
) -> Sequence[Result]:
    """The first open result of each order that is due. The results of an order are processed in order of arrival."""
    earlier = picking_result.alias("earlier")
    first = ~sa.exists().where(
        earlier.c.order_id == picking_result.c.order_id,
        earlier.c.result_no < picking_result.c.result_no,
        earlier.c.state.in_(OPEN),
    )
    query = sa.select(*(picking_result.c[name] for name in Result.__dataclass_fields__)).where(
        picking_result.c.state.in_(OPEN),
        sa.or_(picking_result.c.next_try_at.is_(None), picking_result.c.next_try_at <= instant()),
        first,
    )
    if names := list(order_ids):
        query = query.where(picking_result.c.order_id.in_(names))
    if result_no is not None:
        query = query.where(picking_result.c.result_no == result_no)
    rows = connection.execute(query.order_by(picking_result.c.result_no).limit(at_most))
    return [Result(**row) for row in rows.mappings()]


def mark_sending(connection: Connection, lease: Lease, result_no: int, *, base_updated_at: object) -> None:
    """Commit this before the request is sent: from then on, the platform may have it."""
    values = {
        "state": "sending",
        "attempts": picking_result.c.attempts + 1,
        "base_updated_at": base_updated_at,
        "sent_at": instant(),
    }
    _set(connection, lease, result_no, values)


def mark_answered(connection: Connection, lease: Lease, result_no: int, *, confirm_after_s: float) -> None:
    """The platform has accepted the request. An event or a read-back has to confirm it."""
    values = {
        "state": "answered",
        "error": None,
        "next_try_at": after(confirm_after_s),
        "postponements": 0,
    }
    _set(connection, lease, result_no, values)


def store_feedback(connection: Connection, lease: Lease, result_no: int, feedback: Any) -> None:
    """Stores the answer to UPDATE_CART."""
    _set(connection, lease, result_no, {"feedback": feedback})


def postpone(connection: Connection, lease: Lease, result_no: int, error: str | None, *, after_s: float) -> None:
    """Tries it again after `after_s` seconds."""
    values = {
        "error": error,
        "next_try_at": after(after_s),
        "postponements": picking_result.c.postponements + 1,
    }
    _set(connection, lease, result_no, values)


def quarantine(connection: Connection, lease: Lease, result_no: int, why: str) -> None:
    """It cannot be processed: the order's next result goes on, and this one waits for `retry`."""
    values = {"state": "quarantined", "error": why, "next_try_at": None}
    _set(connection, lease, result_no, values)


def retry(connection: Connection, order_id: str) -> int:
    """Opens the quarantined results of this order again; returns how many. A sent one is read back first."""
    sent = sa.case((picking_result.c.attempts > 0, "sending"), else_="waiting")
    return connection.execute(
        picking_result.update()
        .where(picking_result.c.order_id == order_id, picking_result.c.state == "quarantined")
        .values(state=sent, error=None, postponements=0)
    ).rowcount


def quarantined_results(connection: Connection, *, at_most: int) -> Sequence[Any]:
    """(order_id, result_id, error, received_at) of quarantined results, the oldest first."""
    query = sa.select(
        picking_result.c.order_id, picking_result.c.result_id, picking_result.c.error, picking_result.c.received_at
    ).where(_QUARANTINED)
    return connection.execute(query.order_by(picking_result.c.result_no).limit(at_most)).all()


def count_quarantined_results(connection: Connection) -> tuple[int, int | None]:
    """(number of quarantined results, number of the newest)."""
    query = sa.select(sa.func.count(), sa.func.max(picking_result.c.result_no)).where(_QUARANTINED)
    count, newest = connection.execute(query).one()
    return count, newest


def finish(
    connection: Connection, lease: Lease, result_no: int, state: str, problems: Sequence[dict[str, str]] = ()
) -> None:
    """Ends a result as done, checked, rejected or overtaken. `problems`: rows of rule and message."""
    values = {
        "state": state,
        "problems": list(problems) or None,
        "error": None,
        "next_try_at": None,
        "ended_at": instant(),
        "reply_due": True,
    }
    _set(connection, lease, result_no, values)


def of_order(connection: Connection, order_id: str, *, vendor: str | None = None) -> list[dict[str, Any]]:
    """Every result of an order with its outcome, oldest first, without personal data. `vendor`: only results of this store."""
    shown = ("result_id", "action", "state", "problems", "feedback", "error")
    query = sa.select(*(picking_result.c[name] for name in shown)).where(picking_result.c.order_id == order_id)
    if vendor is not None:
        query = query.where(picking_result.c.vendor == vendor)
    query = query.order_by(picking_result.c.result_no)
    return [_shown(row) for row in connection.execute(query)]


def reply(connection: Connection, result_no: int) -> dict[str, Any]:
    """The reply to the store about a result."""
    row = connection.execute(sa.select(picking_result).where(picking_result.c.result_no == result_no)).one()
    return {"kind": "reply", "order_id": row.order_id, **_shown(row)}


def oldest_not_sent(connection: Connection) -> Sequence[Any]:
    """(orders, age_s of the oldest, error) of the results that the platform has not confirmed."""
    age = sa.extract("epoch", instant() - sa.func.min(picking_result.c.received_at))
    query = sa.select(
        sa.func.count().label("orders"), age.label("age_s"), sa.func.max(picking_result.c.error).label("error")
    )
    return connection.execute(query.where(picking_result.c.state.in_(OPEN))).all()


def _set(connection: Connection, lease: Lease, result_no: int, values: dict[str, Any]) -> None:
    lease.hold(connection)
    connection.execute(picking_result.update().where(picking_result.c.result_no == result_no).values(values))


def _shown(row: Any) -> dict[str, Any]:
    return {
        "result_id": row.result_id,
        "action": row.action,
        "state": row.state,
        "messages": [problem["message"] for problem in row.problems or ()],
        "rules": [problem["rule"] for problem in row.problems or ()],
        "feedback": row.feedback,
        "error": row.error,
    }


def recent(connection: Connection, vendor: str, skus: Collection[str], *, within_s: float) -> Sequence[Any]:
    """Rows (sku, known, price, by_weight, name) of the SKUs that were requested within this time."""
    query = sa.select(order_product).where(
        order_product.c.vendor == vendor,
        order_product.c.sku.in_(list(skus)),
        order_product.c.asked_at > after(-within_s),
    )
    return connection.execute(query).all()


def keep(
    connection: Connection,
    vendor: str,
    sku: str,
    *,
    known: bool,
    price: Decimal | None,
    by_weight: bool | None,
    name: str | None,
) -> None:
    """Stores what the platform's listing has of a SKU."""
    columns = {"known": known, "price": price, "by_weight": by_weight, "name": name, "asked_at": instant()}
    insertion = insert(order_product).values(vendor=vendor, sku=sku, **columns)
    connection.execute(
        insertion.on_conflict_do_update(index_elements=[order_product.c.vendor, order_product.c.sku], set_=columns)
    )
