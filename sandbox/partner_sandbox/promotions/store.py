"""Promotions by their identity, and their rows piece by piece."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from partner_sandbox import money
from partner_sandbox.jobs import OPEN, job
from partner_sandbox.promotions.body import PromotionBody
from partner_sandbox.storage import metadata

REASON = "COMPETITIVENESS"
"""Of a promotion whose request has none."""
promotion = sa.Table(
    "promotion",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("chain", sa.Text, nullable=False),
    sa.Column("identity", sa.Text, nullable=False, comment="digest of display name, vendors, start and end"),
    sa.Column("vendors", sa.JSON, nullable=False, comment="as they were sent, * for all"),
    sa.Column("display_name", sa.JSON, nullable=False, comment="locale -> text"),
    sa.Column("type", sa.Text, nullable=False, comment="STRIKETHROUGH, SAME_ITEM_BUNDLE"),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("start_us", sa.Integer, nullable=False),
    sa.Column("end_us", sa.Integer, nullable=False),
    sa.Column("purchased_quantity", sa.Integer, comment="of a bundle"),
    sa.Column("discounted_quantity", sa.Integer, comment="of a bundle"),
    sa.Column("max_discount_milli", sa.Integer, comment="limits.max_discount_per_order"),
    sa.Column("max_items", sa.Integer, comment="limits.max_items_per_order"),
    sa.Column("active", sa.Boolean, nullable=False, comment="false: deactivated as a whole"),
    sa.Column("cancelled_us", sa.Integer, comment="when it was deactivated"),
    sa.Column("seen_from_us", sa.Integer, nullable=False, comment="from when the app shows it at the earliest"),
    sa.Column("seen_until_us", sa.Integer, comment="until when the app shows it although it is deactivated"),
    sa.Column("created_us", sa.Integer, nullable=False),
    sa.Column("updated_us", sa.Integer, nullable=False),
    sa.UniqueConstraint("chain", "identity"),
    sqlite_autoincrement=True,
)

promotion_sku = sa.Table(
    "promotion_sku",
    metadata,
    sa.Column("vendor_key", sa.Integer, sa.ForeignKey("vendor.id"), primary_key=True),
    sa.Column("sku", sa.Text, primary_key=True),
    sa.Column("promotion_id", sa.Integer, sa.ForeignKey("promotion.id"), primary_key=True),
    sa.Column("seen_from_us", sa.Integer, primary_key=True, comment="from when the app shows this value"),
    sa.Column("seen_until_us", sa.Integer, comment="null: the value in force; otherwise replaced or removed"),
    sa.Column("subtype", sa.Text, nullable=False, comment="FINAL_PRICE, PERCENTAGE, ABSOLUTE"),
    sa.Column("value_milli", sa.Integer, nullable=False, comment="thousandths of a price or of a per cent"),
    sa.Column("max_quantity", sa.Integer),
    sa.Index("promotion_sku_by_promotion", "promotion_id", "vendor_key"),
    sqlite_with_rowid=False,
)

promotion_request = sa.Table(
    "promotion_request",
    metadata,
    sa.Column("job_seq", sa.Integer, sa.ForeignKey("job.seq"), primary_key=True),
    sa.Column("body", sa.LargeBinary, nullable=False, comment="until the job has run"),
)


_SKUS: sa.BindParameter[str] = sa.bindparam("skus", expanding=True)
_PRICES = sa.text("""
    SELECT sku, price_milli FROM product
    WHERE vendor_key = :vendor AND sku IN :skus
""").bindparams(_SKUS)
_IN_FORCE = sa.text("""
    SELECT sku, subtype, value_milli, max_quantity, seen_from_us FROM promotion_sku
    WHERE vendor_key = :vendor AND promotion_id = :promotion AND seen_until_us IS NULL
        AND sku IN :skus
""").bindparams(_SKUS)
_END = sa.text("""
    UPDATE promotion_sku SET seen_until_us = :until
    WHERE vendor_key = :vendor AND sku = :sku AND promotion_id = :promotion AND seen_until_us IS NULL
""")
_FORGET = sa.text("""
    DELETE FROM promotion_sku
    WHERE vendor_key = :vendor AND sku = :sku AND promotion_id = :promotion AND seen_until_us <= :now
""")
_ADD = sa.text("""
    INSERT OR REPLACE INTO promotion_sku
        (vendor_key, sku, promotion_id, seen_from_us, seen_until_us, subtype, value_milli, max_quantity)
    VALUES (:vendor, :sku, :promotion, :from, NULL, :subtype, :value_milli, :max_quantity)
""")


@dataclass(frozen=True)
class Value:
    """What a SKU is discounted by."""

    subtype: str
    value_milli: int
    max_quantity: int | None


def keep_request(connection: sa.Connection, job_seq: int, body: bytes) -> None:
    connection.execute(promotion_request.insert().values(job_seq=job_seq, body=body))


def requested(connection: sa.Connection, job_seq: int) -> bytes:
    found = connection.execute(sa.select(promotion_request.c.body).where(promotion_request.c.job_seq == job_seq))
    return bytes(found.scalar_one())


def forget_request(connection: sa.Connection, job_seq: int) -> None:
    """Deletes the body of this job, and those of jobs that ended without a run or are gone."""
    others = promotion_request.c.job_seq.not_in(sa.select(job.c.seq).where(job.c.state.in_(OPEN)))
    connection.execute(sa.delete(promotion_request).where(others | (promotion_request.c.job_seq == job_seq)))


def find(connection: sa.Connection, chain: str, identity: str) -> sa.Row[Any] | None:
    """The promotion of this identity."""
    mine = sa.select(promotion).where(promotion.c.chain == chain, promotion.c.identity == identity)
    return connection.execute(mine).one_or_none()


def header(body: PromotionBody) -> dict[str, Any]:
    """The fields beside the SKUs that are not part of the identity."""
    limits = body.limits
    most = None if limits is None else limits.max_discount_per_order
    return {
        "type": body.type,
        **({} if body.reason is None else {"reason": body.reason}),
        "purchased_quantity": body.conditions.purchased_quantity,
        "discounted_quantity": body.conditions.discounted_quantity,
        "max_discount_milli": None if most is None else money.cut(most),
        "max_items": None if limits is None else limits.max_items_per_order,
    }


def add(connection: sa.Connection, chain: str, body: PromotionBody, now_us: int, seen_from_us: int) -> int:
    """A new promotion without SKUs; its number."""
    row = {
        "chain": chain,
        "identity": body.identity,
        "vendors": sorted(set(body.vendors)),
        "display_name": dict(body.display_name or {}),
        "reason": REASON,
        "start_us": body.conditions.start_time,
        "end_us": body.conditions.end_time,
        **header(body),
        "active": True,
        "seen_from_us": seen_from_us,
        "created_us": now_us,
        "updated_us": now_us,
    }
    made = connection.execute(promotion.insert().values(row)).inserted_primary_key
    assert made is not None
    return int(made[0])


def change(connection: sa.Connection, promotion_id: int, **values: Any) -> None:
    connection.execute(sa.update(promotion).where(promotion.c.id == promotion_id).values(values))


def forget(connection: sa.Connection, promotion_id: int) -> None:
    connection.execute(sa.delete(promotion_sku).where(promotion_sku.c.promotion_id == promotion_id))
    connection.execute(sa.delete(promotion).where(promotion.c.id == promotion_id))


def has_skus(connection: sa.Connection, promotion_id: int) -> bool:
    mine = sa.select(promotion_sku.c.sku).where(promotion_sku.c.promotion_id == promotion_id).limit(1)
    return connection.execute(mine).first() is not None


def prices(connection: sa.Connection, vendor_key: int, skus: Iterable[str]) -> dict[str, int | None]:
    """The catalog prices of those SKUs that the vendor has."""
    rows = connection.execute(_PRICES, {"vendor": vendor_key, "skus": list(skus)})
    return {row.sku: row.price_milli for row in rows}


def in_force(connection: sa.Connection, promotion_id: int, vendor_key: int, skus: Iterable[str]) -> dict[str, Value]:
    """What the platform holds for these SKUs in this promotion."""
    wanted = {"vendor": vendor_key, "promotion": promotion_id, "skus": list(skus)}
    rows = connection.execute(_IN_FORCE, wanted)
    return {row.sku: Value(row.subtype, row.value_milli, row.max_quantity) for row in rows}


def replace(
    connection: sa.Connection,
    promotion_id: int,
    vendor_key: int,
    held: dict[str, Value],
    values: dict[str, Value | None],
    now_us: int,
    seen_us: int,
) -> None:
    """Puts these values (None: out of the promotion) in the place of those held; the app shows it from `seen_us`.

    What it ceased to show before `now_us` is deleted.
    """
    place = {"vendor": vendor_key, "promotion": promotion_id}
    ended = [{**place, "sku": sku, "now": now_us, "until": seen_us} for sku in values if sku in held]
    if ended:
        connection.execute(_FORGET, ended)
        connection.execute(_END, ended)
    added = [
        {**place, "sku": sku, "from": seen_us, **vars(value)} for sku, value in values.items() if value is not None
    ]
    if added:
        connection.execute(_ADD, added)
