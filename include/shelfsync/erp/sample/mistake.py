"""A buyer's mistake, and its repair: a price of one product of a store with its decimal point two places too far."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.erp.sample import tables

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

TIMES = Decimal(100)


@dataclass(frozen=True)
class Mistake:
    """The wrong `amount` of a store for a SKU, of which it has no price of its own otherwise."""

    store: str
    sku: str
    amount: Decimal


def mistype(engine: Engine, store: str, sku: str) -> Mistake:
    """From today on, the store's price of the SKU is a hundred times the list price."""
    product, place = tables.product.c, tables.store.c
    with engine.begin() as connection:
        found = sa.select(product.product_id, product.list_price).where(product.item_code == sku)
        product_id, right = connection.execute(found).one()
        store_id = connection.execute(sa.select(place.store_id).where(place.code == store)).scalar_one()
        row = {
            "product_id": product_id,
            "store_id": store_id,
            "amount": right * TIMES,
            "valid_from": sa.func.current_date(),
        }
        connection.execute(sa.insert(tables.price).values(row))
    return Mistake(store, sku, right * TIMES)


def correct(engine: Engine, mistake: Mistake) -> None:
    """The buyer takes it back."""
    product = sa.select(tables.product.c.product_id).where(tables.product.c.item_code == mistake.sku).scalar_subquery()
    store = sa.select(tables.store.c.store_id).where(tables.store.c.code == mistake.store).scalar_subquery()
    mine = (
        tables.price.c.product_id == product,
        tables.price.c.store_id == store,
        tables.price.c.amount == mistake.amount,
    )
    with engine.begin() as connection:
        connection.execute(sa.delete(tables.price).where(*mine))
