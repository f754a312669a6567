"""Products that a customer can order without emptying a shelf."""

from __future__ import annotations

import sqlalchemy as sa

from shelfsync.erp.sample import tables

STOCK_LEAST = 40


def plentiful(engine: sa.Engine, store: str, number: int) -> list[str]:
    """SKUs of a store with plenty of stock, sold by the piece, without a price of the store's own and in no campaign."""
    listing, product, movement = tables.listing.c, tables.product.c, tables.stock_movement
    stock = sa.func.sum(movement.c.quantity)
    moved = sa.and_(movement.c.store_id == listing.store_id, movement.c.product_id == listing.product_id)
    own_price = sa.exists().where(
        tables.price.c.store_id == listing.store_id, tables.price.c.product_id == listing.product_id
    )
    reduced = sa.exists().where(tables.campaign_price.c.product_id == listing.product_id)
    found = (
        sa.select(product.item_code)
        .select_from(tables.listing.join(tables.product).join(tables.store).join(movement, moved))
        .where(tables.store.c.code == store, listing.active, product.active, ~product.sold_by_weight)
        .where(~own_price, ~reduced, product.item_code.regexp_match("^[1-9][0-9]+$"))
        .group_by(product.item_code)
        .having(stock >= STOCK_LEAST)
        .order_by(product.item_code)
        .limit(number)
    )
    with engine.connect() as connection:
        return list(connection.execute(found).scalars())
