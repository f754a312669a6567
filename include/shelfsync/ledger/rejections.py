"""SKUs the platform refuses, with the values that were wanted: repeated only when these change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.ledger.instant import instant
from shelfsync.ledger.tables import rejection

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy.engine import Connection

_WANTED = ("price", "quantity", "active", "max_sales_quantity")


def of_vendor(connection: Connection, vendor: str) -> list[dict[str, Any]]:
    """Rows of sku and the four values that were wanted, by sku."""
    columns = [rejection.c.sku, *(rejection.c[name] for name in _WANTED)]
    rows = connection.execute(
        sa.select(*columns).where(rejection.c.vendor == vendor).order_by(rejection.c.sku)
    ).mappings()
    return [dict(row) for row in rows]


def reasons(connection: Connection, vendor: str) -> dict[str, str]:
    """Why each refused SKU of a vendor is refused."""
    rows = connection.execute(sa.select(rejection.c.sku, rejection.c.reason).where(rejection.c.vendor == vendor))
    return {row.sku: row.reason for row in rows}


def remember(connection: Connection, vendor: str, job_id: int, rows: Sequence[dict[str, Any]]) -> None:
    """Notes refusals: sku, reason and the four values wanted. The same job twice counts once."""
    if not rows:
        return
    statement = insert(rejection)
    new = statement.excluded
    again = {
        **{name: new[name] for name in (*_WANTED, "reason")},
        "times": sa.case((rejection.c.job_id == new.job_id, rejection.c.times), else_=rejection.c.times + 1),
        "job_id": new.job_id,
        "last_at": instant(),
    }
    statement = statement.on_conflict_do_update(index_elements=[rejection.c.vendor, rejection.c.sku], set_=again)
    connection.execute(statement, [{**row, "vendor": vendor, "job_id": job_id} for row in rows])


def release(connection: Connection, vendor: str, skus: Iterable[str]) -> None:
    """Forgets refusals: the platform has accepted these SKUs."""
    connection.execute(
        rejection.delete().where(
            rejection.c.vendor == vendor, rejection.c.sku == sa.any_(sa.literal(list(skus), sa.ARRAY(sa.Text)))
        )
    )


def count_by_reason(connection: Connection) -> dict[str, int]:
    """How many SKUs are refused, by the platform's words."""
    statement = sa.select(rejection.c.reason, sa.func.count()).group_by(rejection.c.reason)
    return {row.reason: row[1] for row in connection.execute(statement)}
