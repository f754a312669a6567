"""The pairs that the platform rejected in promotions, with the wanted and known values. A pair is sent again if these change, or after a day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.promotions.ledger.tables import promotion, promotion_rejection
from shelfsync.store.metadata import after, instant

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlalchemy.engine import Connection

_REJECTION = promotion_rejection.c
_CHUNK = 10_000


def of_promotion(connection: Connection, promotion_id: int) -> list[dict[str, Any]]:
    """The rejected pairs of a promotion: rows of vendor, sku, subtype, value and max_quantity."""
    columns = [_REJECTION[name] for name in ("vendor", "sku", "subtype", "value", "max_quantity")]
    rows = connection.execute(
        sa.select(*columns).where(_REJECTION.promotion_id == promotion_id).order_by(_REJECTION.sku)
    )
    return [dict(row) for row in rows.mappings()]


def due(connection: Connection, *, retry_s: float) -> dict[int, set[str]]:
    """By promotion that is not over: its SKUs whose rejection is old enough that they are tried again."""
    statement = (
        sa.select(_REJECTION.promotion_id, _REJECTION.sku)
        .join(promotion, promotion.c.promotion_id == _REJECTION.promotion_id)
        .where(_REJECTION.last_at <= after(-retry_s), promotion.c.end_time > instant())
    )
    found: dict[int, set[str]] = {}
    for promotion_id, sku in connection.execute(statement):
        found.setdefault(promotion_id, set()).add(sku)
    return found


def at_vendor(connection: Connection, vendor: str) -> list[dict[str, Any]]:
    """The rejected pairs of a vendor: rows of promotion_id, sku, base_price and known, of promotions that are not over."""
    columns = [_REJECTION[name] for name in ("promotion_id", "sku", "base_price", "known")]
    statement = (
        sa.select(*columns)
        .join(promotion, promotion.c.promotion_id == _REJECTION.promotion_id)
        .where(_REJECTION.vendor == vendor, promotion.c.end_time > instant())
    )
    return [dict(row) for row in connection.execute(statement).mappings()]


def remember(connection: Connection, rows: pa.Table) -> None:
    """Stores rejections: promotion_id, job_id, vendor, sku, reason, subtype, value, max_quantity, base_price, known. A job counts once."""
    for batch in rows.to_batches(max_chunksize=_CHUNK):
        statement = insert(promotion_rejection)
        new = statement.excluded
        again = {
            name: new[name] for name in ("reason", "subtype", "value", "max_quantity", "base_price", "known", "job_id")
        }
        counted = sa.case((_REJECTION.job_id == new.job_id, _REJECTION.times), else_=_REJECTION.times + 1)
        statement = statement.on_conflict_do_update(
            index_elements=[_REJECTION.promotion_id, _REJECTION.vendor, _REJECTION.sku],
            set_={**again, "times": counted, "last_at": instant()},
        )
        connection.execute(statement, [{**row, "times": 1} for row in batch.to_pylist()])


def release(connection: Connection, items: str) -> None:
    """Deletes the rejections of SKUs by other jobs: the platform has reported a new outcome, or the SKUs left.

    `items`: the table of promotion_id, job_id, sku.
    """
    statement = f"""
        DELETE FROM ledger.promotion_rejection AS r USING {items} AS i
        WHERE r.promotion_id = i.promotion_id AND r.sku = i.sku AND r.job_id <> i.job_id
    """  # noqa: S608  a name of a table that the caller has written
    connection.execute(sa.text(statement))


def count(connection: Connection) -> list[dict[str, Any]]:
    """Rows of vendor, reason, promotions and pairs rejected in promotions that are not over; the vendor with the most pairs comes first."""
    pairs, promotions = (
        sa.func.count().label("pairs"),
        sa.func.count(sa.distinct(_REJECTION.promotion_id)).label("promotions"),
    )
    statement = (
        sa.select(_REJECTION.vendor, _REJECTION.reason, promotions, pairs)
        .join(promotion, promotion.c.promotion_id == _REJECTION.promotion_id)
        .where(promotion.c.end_time > instant())
        .group_by(_REJECTION.vendor, _REJECTION.reason)
        .order_by(pairs.desc(), _REJECTION.vendor, _REJECTION.reason)
    )
    return [dict(row) for row in connection.execute(statement).mappings()]
