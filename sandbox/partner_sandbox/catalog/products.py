"""Products of a vendor, their barcodes and categories, and changes on their way to the app (interface.md 8)."""

from __future__ import annotations

from collections import defaultdict

import sqlalchemy as sa

from partner_sandbox.storage import metadata

product = sa.Table(
    "product",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("vendor_key", sa.Integer, sa.ForeignKey("vendor.id"), nullable=False),
    sa.Column("sku", sa.Text, nullable=False),
    sa.Column("remote_product_id", sa.Text, nullable=False, comment="the platform's own UUID"),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("details", sa.JSON, nullable=False, comment="translations, description, images, weight specifications"),
    sa.Column("price_milli", sa.Integer, comment="thousandths; null: never priced"),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("sales_limit", sa.Integer, comment="max_sales_quantity; null: none"),
    sa.Column("sales_buffer", sa.Integer, comment="null: the vendor's"),
    sa.Column("is_sold_by_weight", sa.Boolean, nullable=False),
    sa.Column("app_price_milli", sa.Integer, comment="what a customer sees, after propagation"),
    sa.Column("app_active", sa.Boolean, nullable=False),
    sa.Column("app_sales_limit", sa.Integer),
    sa.UniqueConstraint("vendor_key", "sku"),
)

barcode = sa.Table(
    "barcode",
    metadata,
    sa.Column("vendor_key", sa.Integer, nullable=False),
    sa.Column("barcode", sa.Text, nullable=False, comment="padded with zeros on the left to 14 digits"),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("product_id", sa.Integer, sa.ForeignKey("product.id"), nullable=False),
    sa.Index("barcode_by_text", "vendor_key", "barcode"),
    sa.Index("barcode_by_product", "product_id"),
)

category = sa.Table(
    "category",
    metadata,
    sa.Column("vendor_key", sa.Integer, sa.ForeignKey("vendor.id"), primary_key=True),
    sa.Column("global_id", sa.Text, primary_key=True),
    sa.Column("name", sa.JSON, nullable=False, comment="locale -> text"),
    sa.Column("description", sa.JSON, nullable=False, comment="locale -> text"),
    sa.Column("parent_global_id", sa.Text),
    sa.Column("active", sa.Boolean, nullable=False),
)

product_category = sa.Table(
    "product_category",
    metadata,
    sa.Column("product_id", sa.Integer, sa.ForeignKey("product.id"), primary_key=True),
    sa.Column("global_id", sa.Text, primary_key=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Index("product_category_by_id", "global_id"),
)

visible_change = sa.Table(
    "visible_change",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("visible_us", sa.Integer, nullable=False, comment="when the app shows it"),
    sa.Column("product_id", sa.Integer, sa.ForeignKey("product.id"), nullable=False),
    sa.Column("price_milli", sa.Integer),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("sales_limit", sa.Integer),
    sa.Index("visible_change_by_time", "visible_us"),
    sa.Index("visible_change_by_product", "product_id"),
)

_SHOW = sa.text("""
    UPDATE product SET app_price_milli = c.price_milli, app_active = c.active, app_sales_limit = c.sales_limit
    FROM visible_change AS c
    JOIN (SELECT max(id) AS id FROM visible_change WHERE visible_us <= :now GROUP BY product_id) AS ripe
        ON ripe.id = c.id
    WHERE product.id = c.product_id
""")
_FORGET = sa.text("DELETE FROM visible_change WHERE visible_us <= :now")
_ANY = sa.text("SELECT 1 FROM visible_change WHERE visible_us <= :now LIMIT 1")


def show_due(connection: sa.Connection, now_us: int) -> None:
    """Makes every change that is due by `now_us` (microseconds) visible in the app."""
    at = {"now": now_us}
    if connection.execute(_ANY, at).first() is not None:
        connection.execute(_SHOW, at)
        connection.execute(_FORGET, at)


def barcodes_of(connection: sa.Connection, product_ids: list[int]) -> defaultdict[int, list[str]]:
    """The barcodes of these products, in their order."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    mine = sa.select(barcode).where(barcode.c.product_id.in_(product_ids)).order_by(barcode.c.position)
    for row in connection.execute(mine):
        found[row.product_id].append(row.barcode)
    return found


def has_term(term: str) -> sa.ColumnElement[bool]:
    """Whether title or SKU of a product has this text."""
    return sa.or_(product.c.title.icontains(term, autoescape=True), product.c.sku.icontains(term, autoescape=True))
