"""The tables of the sample ERP."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Date,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    Numeric,
    String,
    Table,
    func,
    text,
)

SCHEMA = "erp"
COMMENT = "The sample ERP of shelfsync; made anew by shelfsync.erp.sample"

metadata = MetaData(schema=SCHEMA)

store = Table(
    "store",
    metadata,
    Column("store_id", Integer, primary_key=True, autoincrement=False),
    Column("code", String, nullable=False, unique=True, comment="What the platform calls the vendor"),
    Column("name", String, nullable=False),
    comment="Stores of the chain",
)

product = Table(
    "product",
    metadata,
    Column("product_id", Integer, primary_key=True, autoincrement=False),
    Column("item_code", String, nullable=False, unique=True, comment="SKU; text, leading zeros and case count"),
    Column("name", String, nullable=False),
    Column("department", String, nullable=False),
    Column("sold_by_weight", Boolean, nullable=False, comment="Stock is in kilograms, prices are per kilogram"),
    Column("list_price", Numeric(12, 4), nullable=False, comment="Where no other price holds"),
    Column("max_per_order", Integer, comment="Pieces a customer may put in one order; null: any number"),
    Column("active", Boolean, nullable=False),
    comment="What the chain sells",
)

barcode = Table(
    "barcode",
    metadata,
    Column("code", String, primary_key=True, comment="EAN-13 or EAN-8 with its check digit"),
    Column("product_id", ForeignKey(product.c.product_id), nullable=False),
    Column("is_main", Boolean, nullable=False, comment="The one that is printed on the shelf"),
    Index("barcode_main", "product_id", unique=True, postgresql_where=text("is_main")),
    comment="A product has none, one or several",
)

listing = Table(
    "listing",
    metadata,
    Column("store_id", ForeignKey(store.c.store_id), primary_key=True),
    Column("product_id", ForeignKey(product.c.product_id), primary_key=True),
    Column("active", Boolean, nullable=False),
    Column("max_per_order", Integer, comment="Beats the product's"),
    comment="Which store sells what",
)

price = Table(
    "price",
    metadata,
    Column("price_id", Integer, Identity(), primary_key=True),
    Column("product_id", ForeignKey(product.c.product_id), nullable=False),
    Column("store_id", ForeignKey(store.c.store_id), comment="null: all stores"),
    Column("amount", Numeric, nullable=False, comment="Without a scale: 32.967 and 32.9670 both occur"),
    Column("valid_from", Date, nullable=False),
    Column("valid_until", Date, comment="The last day; null: until further notice"),
    CheckConstraint("amount >= 0"),
    Index("price_of_product", "product_id", "store_id"),
    comment="Prices by time; the store's beats the chain's, the newer the older",
)

stock_movement = Table(
    "stock_movement",
    metadata,
    Column("movement_id", Integer, Identity(), primary_key=True),
    Column("store_id", Integer, nullable=False),
    Column("product_id", Integer, nullable=False),
    Column(
        "booked_at",
        DateTime(timezone=True),
        nullable=False,
        comment="When the booking began, not when it was committed",
    ),
    Column("kind", String, nullable=False, comment="receipt, sale, waste, count"),
    Column("quantity", Numeric(12, 3), nullable=False, comment="Pieces or kilograms; what leaves is negative"),
    Index("movement_of_product", "store_id", "product_id"),
    comment="Every change of stock; their sum is the stock",
)

campaign = Table(
    "campaign",
    metadata,
    Column("campaign_id", Integer, Identity(), primary_key=True),
    Column("code", String, nullable=False, unique=True),
    Column("name", String, nullable=False, comment="What customers read"),
    Column("store_id", ForeignKey(store.c.store_id), comment="null: all stores"),
    Column("starts_at", DateTime(timezone=True), nullable=False),
    Column("ends_at", DateTime(timezone=True), nullable=False),
    comment="Promotions of the chain",
)

campaign_price = Table(
    "campaign_price",
    metadata,
    Column("campaign_id", ForeignKey(campaign.c.campaign_id, ondelete="CASCADE"), primary_key=True),
    Column("product_id", ForeignKey(product.c.product_id), primary_key=True),
    Column("amount", Numeric(12, 2), nullable=False, comment="What customers pay while it lasts"),
    comment="What a campaign reduces",
)

store_order = Table(
    "store_order",
    metadata,
    Column("order_id", String, primary_key=True),
    Column("store", String, nullable=False, comment="What the platform calls the vendor"),
    Column("hand_over_id", BigInteger, nullable=False, comment="The document in the outbox"),
    Column("state", String, nullable=False, comment="picking, returned, done, cancelled, failed"),
    Column(
        "attempt",
        Integer,
        nullable=False,
        comment="1: the platform rejected the first picking result, this is its correction",
    ),
    Column("since", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    comment="Orders of customers, as the system that stores pick with keeps them",
)
