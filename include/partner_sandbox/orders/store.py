"""Orders read and written."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, ForeignKey, Index, Integer, Table, Text, func, select, update

from partner_sandbox.access.callers import Vendor
from partner_sandbox.access.tables import vendor as vendor_table
from partner_sandbox.clock import to_us
from partner_sandbox.orders.order import Order
from partner_sandbox.storage import metadata

orders = Table(
    "customer_order",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("order_id", Text, nullable=False, unique=True),
    Column("chain", Text, nullable=False),
    Column("vendor_key", Integer, ForeignKey("vendor.id"), nullable=False),
    Column("state", Text, nullable=False),
    Column("created_us", Integer, nullable=False),
    Column("updated_us", Integer, nullable=False),
    Column("document", Text, nullable=False, comment="the whole of it, orders.order.Order as JSON"),
    Column("before", Text, comment="the document before its last change, for a replica that lags"),
    Index("customer_order_by_time", "vendor_key", "created_us"),
)


HISTORY_US = to_us(60 * 86_400)
"""Only orders of the past 60 days are available (interface.md 4.9, 4.10)."""


def add(connection: Connection, vendor_key: int, order: Order) -> None:
    row = {"order_id": order.order_id, "chain": order.chain, "vendor_key": vendor_key, "created_us": order.created_us}
    connection.execute(orders.insert().values({**row, **_changing(order)}))


def save(connection: Connection, before: Order, order: Order, now_us: int) -> Order:
    """The order with its new `updated_at`, which no two states of an order share down to the millisecond."""
    saved = order.model_copy(update={"updated_us": max(now_us // 1000 * 1000, before.updated_us + 1000)})
    values = {**_changing(saved), "before": before.model_dump_json()}
    connection.execute(update(orders).where(orders.c.order_id == order.order_id).values(values))
    return saved


def find(
    connection: Connection, order_id: str, now_us: int, *, chain: str | None = None, stale: bool = False
) -> Order | None:
    """An order of the past 60 days; `stale`: as it was before its last change."""
    wanted = [orders.c.order_id == order_id, orders.c.created_us >= _earliest_us(now_us)]
    if chain is not None:
        wanted.append(orders.c.chain == chain)
    row = connection.execute(select(orders).where(*wanted)).one_or_none()
    return None if row is None else _read(row, stale=stale)


def page(
    connection: Connection,
    where: tuple[ColumnElement[bool], ...],
    first: int,
    count: int,
    *,
    newest_first: bool = False,
    stale: bool = False,
) -> tuple[int, list[Order]]:
    """The total, and one page of the orders in the order of their creation."""
    total = connection.execute(select(func.count()).select_from(orders).where(*where)).scalar_one()
    by = (orders.c.created_us, orders.c.seq)
    ordered = select(orders).where(*where).order_by(*(column.desc() if newest_first else column for column in by))
    rows = connection.execute(ordered.limit(count).offset(first))
    return total, [_read(row, stale=stale) for row in rows]


def within(vendor_key: int, start_us: int, end_us: int, now_us: int) -> tuple[ColumnElement[bool], ...]:
    """Orders of a vendor made in a range, both ends included, no more than 60 days ago."""
    earliest_us = max(start_us, _earliest_us(now_us))
    return (orders.c.vendor_key == vendor_key, orders.c.created_us >= earliest_us, orders.c.created_us <= end_us)


def of_chain(chain: str) -> tuple[ColumnElement[bool], ...]:
    return (orders.c.chain == chain,)


def vendor_of(connection: Connection, chain: str, name: str) -> Vendor | None:
    """By the partner's own store identifier, or by the platform's (interface.md 2.5, 4.10)."""
    known = (vendor_table.c.external_partner_config_id == name) | (vendor_table.c.vendor == name)
    own_first = vendor_table.c.external_partner_config_id == name
    mine = select(vendor_table).where(vendor_table.c.chain == chain, known)
    row = connection.execute(mine.order_by(func.coalesce(own_first, False).desc()).limit(1)).one_or_none()
    if row is None:
        return None
    return Vendor(row.id, row.chain, row.vendor, row.name, row.external_partner_config_id, row.sales_buffer)


def _earliest_us(now_us: int) -> int:
    return now_us // 1000 * 1000 - HISTORY_US  # orders are made at whole milliseconds


def _changing(order: Order) -> dict[str, Any]:
    return {"state": order.state, "updated_us": order.updated_us, "document": order.model_dump_json()}


def _read(row: Any, *, stale: bool) -> Order:
    return Order.model_validate_json(row.before if stale and row.before else row.document)
