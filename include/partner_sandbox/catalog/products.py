"""Products of a vendor, their barcodes and categories, and changes on their way to the app (interface.md 8)."""

from __future__ import annotations

from collections import defaultdict

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    or_,
    select,
    text,
)

from partner_sandbox.storage import metadata

product = Table(
    "product",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("vendor_key", Integer, ForeignKey("vendor.id"), nullable=False),
    Column("sku", Text, nullable=False),
    Column("remote_product_id", Text, nullable=False, comment="the platform's own UUID"),
    Column("title", Text, nullable=False),
    Column("details", JSON, nullable=False, comment="translations, description, images, weight specifications"),
    Column("price_milli", Integer, comment="thousandths; null: never priced"),
    Column("active", Boolean, nullable=False),
    Column("sales_limit", Integer, comment="max_sales_quantity; null: none"),
    Column("sales_buffer", Integer, comment="null: the vendor's"),
    Column("is_sold_by_weight", Boolean, nullable=False),
    Column("app_price_milli", Integer, comment="what a customer sees, after propagation"),
    Column("app_active", Boolean, nullable=False),
    Column("app_sales_limit", Integer),
    UniqueConstraint("vendor_key", "sku"),
)

barcode = Table(
    "barcode",
    metadata,
    Column("vendor_key", Integer, nullable=False),
    Column("barcode", Text, nullable=False, comment="padded with zeros on the left to 14 digits"),
    Column("position", Integer, nullable=False),
    Column("product_id", Integer, ForeignKey("product.id"), nullable=False),
    Index("barcode_by_text", "vendor_key", "barcode"),
    Index("barcode_by_product", "product_id"),
)

category = Table(
    "category",
    metadata,
    Column("vendor_key", Integer, ForeignKey("vendor.id"), primary_key=True),
    Column("global_id", Text, primary_key=True),
    Column("name", JSON, nullable=False, comment="locale -> text"),
    Column("description", JSON, nullable=False, comment="locale -> text"),
    Column("parent_global_id", Text),
    Column("active", Boolean, nullable=False),
)

product_category = Table(
    "product_category",
    metadata,
    Column("product_id", Integer, ForeignKey("product.id"), primary_key=True),
    Column("global_id", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    Index("product_category_by_id", "global_id"),
)

visible_change = Table(
    "visible_change",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("visible_us", Integer, nullable=False, comment="when the app shows it"),
    Column("product_id", Integer, ForeignKey("product.id"), nullable=False),
    Column("price_milli", Integer),
    Column("active", Boolean, nullable=False),
    Column("sales_limit", Integer),
    Index("visible_change_by_time", "visible_us"),
    Index("visible_change_by_product", "product_id"),
)

_SHOW = text("""
    UPDATE product SET app_price_milli = c.price_milli, app_active = c.active, app_sales_limit = c.sales_limit
    FROM visible_change AS c
    JOIN (SELECT max(id) AS id FROM visible_change WHERE visible_us <= :now GROUP BY product_id) AS ripe
        ON ripe.id = c.id
    WHERE product.id = c.product_id
""")
_FORGET = text("DELETE FROM visible_change WHERE visible_us <= :now")
_ANY = text("SELECT 1 FROM visible_change WHERE visible_us <= :now LIMIT 1")


def show_due(connection: Connection, now_us: int) -> None:
    """Makes every change that is due by `now_us` (microseconds) visible in the app."""
    at = {"now": now_us}
    if connection.execute(_ANY, at).first() is not None:
        connection.execute(_SHOW, at)
        connection.execute(_FORGET, at)


def barcodes_of(connection: Connection, product_ids: list[int]) -> defaultdict[int, list[str]]:
    """The barcodes of these products, in their order."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    mine = select(barcode).where(barcode.c.product_id.in_(product_ids)).order_by(barcode.c.position)
    for row in connection.execute(mine):
        found[row.product_id].append(row.barcode)
    return found


def has_term(term: str) -> ColumnElement[bool]:
    """Whether title or SKU of a product has this text."""
    return or_(product.c.title.icontains(term, autoescape=True), product.c.sku.icontains(term, autoescape=True))
