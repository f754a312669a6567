"""Creates the sample ERP."""

from __future__ import annotations

import datetime as dt
import zlib
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.erp.sample import products, tables
from shelfsync.erp.sample.products import amount
from shelfsync.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from shelfsync.erp.sample.products import Product

_OPENED_AT = dt.datetime(2024, 3, 1, 6, tzinfo=dt.UTC)
_LONG_AGO = (dt.date(2022, 1, 1), dt.date(2023, 12, 31))
_NOW = (dt.date(2024, 1, 1), None)
_SOME_DAY = (dt.date(2099, 1, 1), None)


@dataclass(frozen=True)
class Created:
    """What the ERP holds now: numbers of rows."""

    vendors: tuple[str, ...]
    products: int
    listings: int
    prices: int
    movements: int


def create(engine: sa.Engine, *, seed: int = 1, vendors: int = 6, skus_per_vendor: int = 5_000) -> Created:
    """Creates schema `erp` in the engine's database, `vendors` stores store-001, store-002, ... with that many products each.

    An existing schema is replaced if it is a sample ERP; any other raises a DataError.
    """
    chance = Random(seed)  # noqa: S311  a sample, not a secret
    chain = products.draw(chance, skus_per_vendor + skus_per_vendor // 12)
    stores = range(1, vendors + 1)
    listed = {store: sorted(chance.sample(range(len(chain)), skus_per_vendor)) for store in stores}
    names = tuple(f"store-{store:03}" for store in stores)
    with engine.begin() as connection:
        _make_room(connection)
        tables.metadata.create_all(connection)
        connection.exec_driver_sql(f"COMMENT ON SCHEMA {tables.SCHEMA} IS '{tables.COMMENT}'")
        copy(
            connection,
            tables.store,
            ((store, name, f"Store {store}") for store, name in zip(stores, names, strict=True)),
        )
        names_of_product = [column.name for column in tables.product.columns]
        copy(connection, tables.product, ([getattr(item, name) for name in names_of_product] for item in chain))
        copy(
            connection,
            tables.barcode,
            ((code, item.product_id, not place) for item in chain for place, code in enumerate(item.barcodes)),
        )
        listings = copy(connection, tables.listing, _listing_rows(chance, chain, listed))
        prices = copy(connection, tables.price, _price_rows(chance, chain, listed))
        movements = copy(connection, tables.stock_movement, _movement_rows(chance, chain, listed))
        for table in tables.metadata.sorted_tables:
            connection.exec_driver_sql(f"ANALYZE {table.fullname}")
    return Created(names, len(chain), listings, prices, movements)


def copy(connection: sa.Connection, table: sa.Table, rows: Iterable[Sequence[Any]]) -> int:
    """Loads rows by COPY, without the column that the database counts itself; returns their number."""
    columns = ", ".join(column.name for column in table.columns if column.identity is None)
    number = 0
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {table.fullname} ({columns}) FROM STDIN") as load:
        for number, row in enumerate(rows, 1):  # noqa: B007  the last number is the count
            load.write_row(row)
    return number


def _make_room(connection: sa.Connection) -> None:
    there = sa.text("SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = :name")
    found = connection.execute(there, {"name": tables.SCHEMA}).first()
    if found is not None and found[0] != tables.COMMENT:
        raise DataError(
            f"The database {connection.engine.url.database!r} has a schema {tables.SCHEMA!r} that is no sample ERP; it was left alone. "
            "Make the sample in another database."
        )
    connection.exec_driver_sql(f"DROP SCHEMA IF EXISTS {tables.SCHEMA} CASCADE")
    connection.exec_driver_sql(f"CREATE SCHEMA {tables.SCHEMA}")


def _listing_rows(chance: Random, chain: list[Product], listed: dict[int, list[int]]) -> Iterator[tuple[Any, ...]]:
    for store, indices in listed.items():
        for index in indices:
            limit = chance.choice((2, 4, 6)) if chance.random() < 0.03 else None
            yield store, chain[index].product_id, chance.random() >= 0.015, limit


def _price_rows(chance: Random, chain: list[Product], listed: dict[int, list[int]]) -> Iterator[tuple[Any, ...]]:
    """Prices of the chain for half of the products, of a store for some, and such as no longer or not yet hold."""
    for item in chain:
        cents = max(2, int(item.list_price * 100))
        if chance.random() < 0.3:
            yield item.product_id, None, amount(chance, cents // 2, cents), *_LONG_AGO
        if chance.random() < 0.5:
            yield item.product_id, None, amount(chance, cents * 4 // 5, cents), *_NOW
        if chance.random() < 0.1:
            yield item.product_id, None, amount(chance, cents, cents * 2), *_SOME_DAY
    for store, indices in listed.items():
        for index in indices:
            kind = chance.random()
            if kind < 0.08:
                cents = max(2, int(chain[index].list_price * 100))
                price = amount(chance, cents * 9 // 10, cents * 11 // 10)
                # As it comes out of a computation: three decimals and an insignificant zero.
                price = price.quantize(Decimal("0.001")) * Decimal("1.0") if kind < 0.01 else price
                yield chain[index].product_id, store, price, *_NOW


def _movement_rows(chance: Random, chain: list[Product], listed: dict[int, list[int]]) -> Iterator[tuple[Any, ...]]:
    """A receipt and some sales; now and then more was sold than was ever booked in."""
    for store, indices in listed.items():
        for index in indices:
            item = chain[index]
            kind = chance.random()
            if kind < 0.04:
                continue  # never had any
            opening = chance.randint(3, 120)
            if item.sold_by_weight:
                booked = [Decimal(opening * 1000 + chance.randint(0, 999)).scaleb(-3)]
                booked += [-Decimal(chance.randint(80, 2500)).scaleb(-3) for _ in range(chance.randint(0, 3))]
            else:
                booked = [Decimal(opening)]
                booked += [-Decimal(chance.randint(1, 3)) for _ in range(chance.randint(0, 3))]
            if kind < 0.07:
                booked.append(-sum(booked, Decimal(0)))  # sold out to the last piece
            elif kind < 0.09:
                booked.append(-sum(booked, Decimal(0)) - chance.randint(1, 5))  # sold before it was booked in
            for place, quantity in enumerate(booked):
                booked_at = _OPENED_AT + dt.timedelta(minutes=chance.randint(0, 600))
                yield store, item.product_id, booked_at, "sale" if place else "receipt", quantity


def assortment(engine: sa.Engine, *, unknown_share: float = 0.01) -> dict[str, list[dict[str, Any]]]:
    """Vendor -> its products {sku, barcodes, title, price, active, max_sales_quantity, sales_buffer, categories, is_sold_by_weight}.

    The platform was filled from the list prices some time ago, so the first sync has changes to send. It does not know about `unknown_share`
    of each vendor's SKUs, always the same ones: it rejects them. Prices are text, cut to three decimals.
    """
    codes = sa.func.array_remove(
        sa.func.array_agg(sa.text("barcode.code ORDER BY barcode.is_main DESC, barcode.code")), sa.null()
    )
    statement = (
        sa.select(tables.store.c.code.label("vendor"), tables.product, codes.label("barcodes"))
        .select_from(
            tables.listing.join(tables.store)
            .join(tables.product)
            .outerjoin(tables.barcode, tables.barcode.c.product_id == tables.product.c.product_id)
        )
        .group_by(tables.store.c.code, tables.product.c.product_id)
        .order_by(tables.store.c.code, tables.product.c.item_code)
    )
    known: dict[str, list[dict[str, Any]]] = {}
    with engine.connect() as connection:
        for row in connection.execute(statement):
            products = known.setdefault(row.vendor, [])
            if _share(f"unknown {row.vendor} {row.item_code}") >= unknown_share:
                products.append(_product(row))
    return known


def _product(row: Any) -> dict[str, Any]:
    return {
        "sku": row.item_code,
        "barcodes": row.barcodes,
        "title": row.name,
        "price": str(row.list_price.quantize(Decimal("0.001"), ROUND_DOWN)),
        "active": row.active,
        "max_sales_quantity": row.max_per_order,
        "sales_buffer": 1 + int(_share(f"buffer {row.item_code}") * 3),
        "categories": [row.department],
        "is_sold_by_weight": row.sold_by_weight,
    }


def _share(text: str) -> float:
    """A number from 0 to 1 that is always the same for a text."""
    return zlib.crc32(text.encode()) / 2**32
