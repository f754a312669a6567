"""The tables of the sample ERP."""

from __future__ import annotations

import sqlalchemy as sa

SCHEMA = "erp"
COMMENT = "The sample ERP of shelfsync; made anew by shelfsync.erp.sample"

metadata = sa.MetaData(schema=SCHEMA)

store = sa.Table(
    "store",
    metadata,
    sa.Column("store_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("code", sa.String, nullable=False, unique=True, comment="What the platform calls the vendor"),
    sa.Column("name", sa.String, nullable=False),
    comment="Stores of the chain",
)

product = sa.Table(
    "product",
    metadata,
    sa.Column("product_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("item_code", sa.String, nullable=False, unique=True, comment="SKU; text, leading zeros and case count"),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("department", sa.String, nullable=False),
    sa.Column("sold_by_weight", sa.Boolean, nullable=False, comment="Stock is in kilograms, prices are per kilogram"),
    sa.Column("list_price", sa.Numeric(12, 4), nullable=False, comment="Where no other price holds"),
    sa.Column("max_per_order", sa.Integer, comment="Pieces a customer may put in one order; null: any number"),
    sa.Column("active", sa.Boolean, nullable=False),
    comment="What the chain sells",
)

barcode = sa.Table(
    "barcode",
    metadata,
    sa.Column("code", sa.String, primary_key=True, comment="EAN-13 or EAN-8 with its check digit"),
    sa.Column("product_id", sa.ForeignKey(product.c.product_id), nullable=False),
    sa.Column("is_main", sa.Boolean, nullable=False, comment="The one that is printed on the shelf"),
    sa.Index("barcode_main", "product_id", unique=True, postgresql_where=sa.text("is_main")),
    comment="A product has none, one or several",
)

listing = sa.Table(
    "listing",
    metadata,
    sa.Column("store_id", sa.ForeignKey(store.c.store_id), primary_key=True),
    sa.Column("product_id", sa.ForeignKey(product.c.product_id), primary_key=True),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("max_per_order", sa.Integer, comment="Beats the product's"),
    comment="Which store sells what",
)

price = sa.Table(
    "price",
    metadata,
    sa.Column("price_id", sa.Integer, sa.Identity(), primary_key=True),
    sa.Column("product_id", sa.ForeignKey(product.c.product_id), nullable=False),
    sa.Column("store_id", sa.ForeignKey(store.c.store_id), comment="null: all stores"),
    sa.Column("amount", sa.Numeric, nullable=False, comment="Without a scale: 32.967 and 32.9670 both occur"),
    sa.Column("valid_from", sa.Date, nullable=False),
    sa.Column("valid_until", sa.Date, comment="The last day; null: until further notice"),
    sa.CheckConstraint("amount >= 0"),
    sa.Index("price_of_product", "product_id", "store_id"),
    comment="Prices by time; the store's beats the chain's, the newer the older",
)

stock_movement = sa.Table(
    "stock_movement",
    metadata,
    sa.Column("movement_id", sa.Integer, sa.Identity(), primary_key=True),
    sa.Column("store_id", sa.Integer, nullable=False),
    sa.Column("product_id", sa.Integer, nullable=False),
    sa.Column(
        "booked_at",
        sa.DateTime(timezone=True),
        nullable=False,
        comment="When the booking began, not when it was committed",
    ),
    sa.Column("kind", sa.String, nullable=False, comment="receipt, sale, waste, count"),
    sa.Column("quantity", sa.Numeric(12, 3), nullable=False, comment="Pieces or kilograms; what leaves is negative"),
    sa.Index("movement_of_product", "store_id", "product_id"),
    comment="Every change of stock; their sum is the stock",
)

campaign = sa.Table(
    "campaign",
    metadata,
    sa.Column("campaign_id", sa.Integer, sa.Identity(), primary_key=True),
    sa.Column("code", sa.String, nullable=False, unique=True),
    sa.Column("name", sa.String, nullable=False, comment="What customers read"),
    sa.Column("store_id", sa.ForeignKey(store.c.store_id), comment="null: all stores"),
    sa.Column("starts_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
    comment="Promotions of the chain",
)

campaign_price = sa.Table(
    "campaign_price",
    metadata,
    sa.Column("campaign_id", sa.ForeignKey(campaign.c.campaign_id, ondelete="CASCADE"), primary_key=True),
    sa.Column("product_id", sa.ForeignKey(product.c.product_id), primary_key=True),
    sa.Column("amount", sa.Numeric(12, 2), nullable=False, comment="What customers pay while it lasts"),
    comment="What a campaign reduces",
)

store_order = sa.Table(
    "store_order",
    metadata,
    sa.Column("order_id", sa.String, primary_key=True),
    sa.Column("store", sa.String, nullable=False, comment="What the platform calls the vendor"),
    sa.Column("hand_over_id", sa.BigInteger, nullable=False, comment="The document in the outbox"),
    sa.Column("state", sa.String, nullable=False, comment="picking, returned, done, cancelled, failed"),
    sa.Column(
        "attempt",
        sa.Integer,
        nullable=False,
        comment="1: the platform rejected the first picking result, this is its correction",
    ),
    sa.Column("since", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.clock_timestamp()),
    comment="Orders of customers, as the system that stores pick with keeps them",
)
