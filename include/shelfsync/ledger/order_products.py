"""What the listing lately said of SKUs that somebody wanted to put into an order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.ledger.instant import after, instant
from shelfsync.ledger.order_tables import order_product

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlalchemy.engine import Connection


def recent(connection: Connection, vendor: str, skus: Collection[str], *, within_s: float) -> Sequence[Any]:
    """Rows (sku, known, price, by_weight, name) of those asked for not longer ago than that."""
    found = sa.select(order_product).where(
        order_product.c.vendor == vendor,
        order_product.c.sku.in_(list(skus)),
        order_product.c.asked_at > after(-within_s),
    )
    return connection.execute(found).all()


def keep(connection: Connection, vendor: str, sku: str, values: dict[str, Any]) -> None:
    """`known`, `price`, `by_weight`, `name` as the platform just said."""
    told = {**values, "asked_at": instant()}
    made = insert(order_product).values(vendor=vendor, sku=sku, **told)
    connection.execute(
        made.on_conflict_do_update(index_elements=[order_product.c.vendor, order_product.c.sku], set_=told)
    )
