"""Campaigns of the sample chain: one every week, one every day, one that ends soon and one that begins soon; and what is sold without any."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from random import Random
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.erp.sample import tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DAYS_AHEAD = 30
WEEKS_AHEAD = 5
PRICE_SHARE = Decimal("0.6")
"""Of the list price: no other price of the chain or of a store is as low, nor becomes so."""
STOCK_LEAST = 40
CHEAPEST = Decimal("0.50")
_CENT = Decimal("0.01")
_DAY = dt.timedelta(days=1)
_WEEK = dt.timedelta(days=7)
_SOON = dt.timedelta(minutes=30)
_HOUR = dt.timedelta(hours=1)


@dataclass(frozen=True)
class _Campaign:
    code: str
    name: str
    store_id: int | None
    starts_at: dt.datetime
    ends_at: dt.datetime
    products: int


def campaigns(engine: sa.Engine, now: dt.datetime) -> int:
    """Creates the missing campaigns around `now`; returns how many. Existing campaigns are not changed.

    Some are in force; where none begins or none ends within the hour, one is made that does. No product is in two at a time.
    """
    made = 0
    with engine.begin() as connection:
        for one in _wanted(connection, now):
            made += _make(connection, one)
    return made


def flash(engine: sa.Engine, now: dt.datetime, *, name: str, hours: int = 2, products: int = 5) -> str:
    """One more campaign of all stores that begins now; its code."""
    begin = now.astimezone(dt.UTC).replace(microsecond=0)
    wanted = _Campaign(f"flash-{begin:%Y%m%d%H%M%S}", name, None, begin, begin + hours * _HOUR, products)
    with engine.begin() as connection:
        _make(connection, wanted)
    return wanted.code


def _wanted(connection: sa.Connection, now: dt.datetime) -> Iterator[_Campaign]:
    today = now.astimezone(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    minute = now.astimezone(dt.UTC).replace(second=0, microsecond=0)
    monday = today - today.weekday() * _DAY
    for week in range(WEEKS_AHEAD):
        begin = monday + week * _WEEK
        number = begin.isocalendar()
        yield _Campaign(
            f"week-{number.year}-{number.week:02}", f"Savings of week {number.week}", None, begin, begin + _WEEK, 40
        )
    for day in range(DAYS_AHEAD):
        begin = today + day * _DAY
        yield _Campaign(f"day-{begin:%Y%m%d}", f"Offer of the day, {begin:%d %B}", None, begin, begin + _DAY, 10)
    if not _any(connection, tables.campaign.c.ends_at, now):
        yield _Campaign(f"last-hours-{minute:%Y%m%d%H%M}", "Last hours", 1, minute - 3 * _HOUR, minute + _SOON, 8)
    if not _any(connection, tables.campaign.c.starts_at, now):
        yield _Campaign(f"soon-{minute:%Y%m%d%H%M}", "Evening basket", None, minute + _SOON, minute + 2 * _DAY, 12)


def _any(connection: sa.Connection, instant: sa.ColumnElement[dt.datetime], now: dt.datetime) -> bool:
    """Whether that happens to a campaign within the hour."""
    found = sa.exists().where(instant > now, instant < now + _HOUR)
    return bool(connection.execute(sa.select(found)).scalar_one())


def _make(connection: sa.Connection, wanted: _Campaign) -> bool:
    campaign = tables.campaign
    if connection.execute(sa.select(sa.exists().where(campaign.c.code == wanted.code))).scalar_one():
        return False
    chance = Random(wanted.code)  # noqa: S311  a sample, not a secret
    free = _free(connection, wanted)
    row = {
        "code": wanted.code,
        "name": wanted.name,
        "store_id": wanted.store_id,
        "starts_at": wanted.starts_at,
        "ends_at": wanted.ends_at,
    }
    number = connection.execute(sa.insert(campaign).values(row).returning(campaign.c.campaign_id)).scalar_one()
    for product_id, list_price in chance.sample(free, min(wanted.products, len(free))):
        amount = (list_price * PRICE_SHARE).quantize(_CENT, ROUND_DOWN)
        values = {"campaign_id": number, "product_id": product_id, "amount": amount}
        connection.execute(sa.insert(tables.campaign_price).values(values))
    return True


def _free(connection: sa.Connection, wanted: _Campaign) -> Sequence[tuple[int, Decimal]]:
    """(product, list price) of what some store sells and no campaign of that time reduces."""
    product, reduced, other = tables.product.c, tables.campaign_price.c, tables.campaign.c
    busy = (
        sa.select(reduced.product_id)
        .join_from(tables.campaign_price, tables.campaign)
        .where(other.starts_at < wanted.ends_at, other.ends_at > wanted.starts_at)
    )
    sold = sa.select(tables.listing.c.product_id).where(tables.listing.c.active)
    found = sa.select(product.product_id, product.list_price).where(
        product.active, product.list_price > CHEAPEST, product.product_id.in_(sold), product.product_id.not_in(busy)
    )
    rows = connection.execute(found.order_by(product.product_id))
    return [(row.product_id, row.list_price) for row in rows]


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
