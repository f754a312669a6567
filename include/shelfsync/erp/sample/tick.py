"""A quarter of an hour in the sample ERP: customers buy, goods come in, prices and the range change."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.erp.sample import tables
from shelfsync.erp.sample.create import copy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_VALID_FROM = dt.date(2024, 6, 1)
_MILL = Decimal("0.001")


@dataclass(frozen=True)
class Tick:
    """What happened, in numbers. Listings are (store, product) pairs; products that are repriced are so in every store without its own price."""

    sold: int
    """Listings with a sale."""
    restocked: int
    repriced: int
    """Products with another price of the chain."""
    repriced_in_store: int
    repriced_invisibly: int
    """Listings whose price changed after the third decimal only, which is no change for the platform."""
    deactivated: int
    delisted: int
    """Removed listings; their rows are no longer in the extract."""
    listed: int
    """Products that a store sells from now on; the platform may not know them."""


def tick(engine: sa.Engine, seed: int) -> Tick:
    """Simulates a quarter of an hour, in one transaction. The same ERP and the same seed give the same changes."""
    chance = Random(seed)  # noqa: S311  a sample, not a secret
    with engine.begin() as connection:
        rows = _listings(connection)
        at = connection.execute(sa.select(sa.func.max(tables.stock_movement.c.booked_at))).scalar_one()
        at += dt.timedelta(minutes=15)
        sold = chance.sample(rows, max(1, len(rows) // 30))
        restocked = chance.sample(rows, max(1, len(rows) // 100))
        copy(connection, tables.stock_movement, (*_sales(chance, sold, at), *_receipts(chance, restocked, at)))
        few = max(1, len(rows) // 600)
        by_chain = chance.sample(sorted({(row.product_id, row.list_price) for row in rows}), few)
        by_store = chance.sample(rows, few)
        set_apart = set(by_store)
        invisible = chance.sample([row for row in rows if row not in set_apart], max(1, few // 3))
        copy(
            connection, tables.price, (*_prices(chance, by_chain, by_store), *_invisible_prices(connection, invisible))
        )
        gone, asleep, new = _range(connection, chance, rows)
    return Tick(
        sold=len(sold),
        restocked=len(restocked),
        repriced=len(by_chain),
        repriced_in_store=len(by_store),
        repriced_invisibly=len(invisible),
        deactivated=asleep,
        delisted=gone,
        listed=new,
    )


def _listings(connection: sa.Connection) -> list[Any]:
    listing, product = tables.listing.c, tables.product.c
    return list(
        connection.execute(
            sa.select(listing.store_id, listing.product_id, product.sold_by_weight, product.list_price)
            .join_from(tables.listing, tables.product)
            .order_by(listing.store_id, listing.product_id)
        )
    )


def _sales(chance: Random, rows: Sequence[Any], at: dt.datetime) -> Iterator[tuple[Any, ...]]:
    for row in rows:
        pieces = Decimal(chance.randint(50, 3000)).scaleb(-3) if row.sold_by_weight else Decimal(chance.randint(1, 4))
        yield row.store_id, row.product_id, at, "sale", -pieces


def _receipts(chance: Random, rows: Sequence[Any], at: dt.datetime) -> Iterator[tuple[Any, ...]]:
    for row in rows:
        yield row.store_id, row.product_id, at, "receipt", Decimal(chance.randint(6, 60))


def _prices(chance: Random, by_chain: Sequence[Any], by_store: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    wanted = [(product_id, None, list_price) for product_id, list_price in by_chain]
    wanted += [(row.product_id, row.store_id, row.list_price) for row in by_store]
    for product_id, store_id, list_price in wanted:
        cents = max(2, int(list_price * 100))
        yield (
            product_id,
            store_id,
            Decimal(chance.randint(cents * 7 // 10, cents * 13 // 10)).scaleb(-2),
            _VALID_FROM,
            None,
        )


def _invisible_prices(connection: sa.Connection, rows: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """The present price, with other digits after the third decimal."""
    price = tables.price.c
    for row in rows:
        held = connection.execute(
            sa.select(price.amount)
            .where(
                price.product_id == row.product_id,
                sa.or_(price.store_id == row.store_id, price.store_id.is_(None)),
                price.valid_from <= sa.func.current_date(),
                sa.or_(price.valid_until >= sa.func.current_date(), price.valid_until.is_(None)),
            )
            .order_by(price.store_id.is_(None), price.valid_from.desc(), price.price_id.desc())
            .limit(1)
        ).scalar()
        now = row.list_price if held is None else held
        cut = now.quantize(_MILL, ROUND_DOWN)
        yield (
            row.product_id,
            row.store_id,
            cut + Decimal("0.0004" if now != cut + Decimal("0.0004") else "0.0007"),
            _VALID_FROM,
            None,
        )


def _range(connection: sa.Connection, chance: Random, rows: Sequence[Any]) -> tuple[int, int, int]:
    """Takes some products out of each store, puts some to sleep, brings some in: how many of each.

    Two products whose codes differ only in case stay as they are. If one of them goes and the other comes, shelfsync quarantines what came: it
    may be the same code, written otherwise.
    """
    listing = tables.listing.c
    gone = asleep = new = 0
    alike = _alike_but_for_case(connection)
    everything = (
        connection.execute(sa.select(tables.product.c.product_id).order_by(tables.product.c.product_id)).scalars().all()
    )
    for store in sorted({row.store_id for row in rows}):
        sells = [row.product_id for row in rows if row.store_id == store]
        leaving = chance.sample(sells, min(6, len(sells) // 2))
        away, sleeping = [product_id for product_id in leaving[::2] if product_id not in alike], leaving[1::2]
        here = sa.and_(listing.store_id == store, listing.product_id.in_(away))
        gone += connection.execute(sa.delete(tables.listing).where(here)).rowcount
        here = sa.and_(listing.store_id == store, listing.product_id.in_(sleeping), listing.active)
        asleep += connection.execute(sa.update(tables.listing).where(here).values(active=False)).rowcount
        elsewhere = sorted(set(everything) - set(sells))
        coming = [
            product_id for product_id in chance.sample(elsewhere, min(2, len(elsewhere))) if product_id not in alike
        ]
        new += copy(connection, tables.listing, ((store, product_id, True, None) for product_id in coming))
    return gone, asleep, new


def _alike_but_for_case(connection: sa.Connection) -> set[int]:
    """The products whose code another product has in other letters."""
    product, other = tables.product.c, tables.product.alias()
    same = sa.func.lower(other.c.item_code) == sa.func.lower(product.item_code)
    has_another = sa.exists().where(same, other.c.product_id != product.product_id)
    return set(connection.execute(sa.select(product.product_id).where(has_another)).scalars())
