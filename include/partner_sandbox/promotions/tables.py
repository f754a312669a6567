"""Promotions, and which SKUs of which vendors they discount from when until when."""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, Column, ForeignKey, Index, Integer, LargeBinary, Table, Text, UniqueConstraint

from partner_sandbox.storage import metadata

promotion = Table(
    "promotion",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("chain", Text, nullable=False),
    Column("identity", Text, nullable=False, comment="digest of display name, vendors, start and end"),
    Column("vendors", JSON, nullable=False, comment="as they were sent, * for all"),
    Column("display_name", JSON, nullable=False, comment="locale -> text"),
    Column("type", Text, nullable=False, comment="STRIKETHROUGH, SAME_ITEM_BUNDLE"),
    Column("reason", Text, nullable=False),
    Column("start_us", Integer, nullable=False),
    Column("end_us", Integer, nullable=False),
    Column("purchased_quantity", Integer, comment="of a bundle"),
    Column("discounted_quantity", Integer, comment="of a bundle"),
    Column("max_discount_milli", Integer, comment="limits.max_discount_per_order"),
    Column("max_items", Integer, comment="limits.max_items_per_order"),
    Column("active", Boolean, nullable=False, comment="false: deactivated as a whole"),
    Column("cancelled_us", Integer, comment="when it was deactivated"),
    Column("seen_from_us", Integer, nullable=False, comment="from when the app shows it at the earliest"),
    Column("seen_until_us", Integer, comment="until when the app shows it although it is deactivated"),
    Column("created_us", Integer, nullable=False),
    Column("updated_us", Integer, nullable=False),
    UniqueConstraint("chain", "identity"),
    sqlite_autoincrement=True,
)

promotion_sku = Table(
    "promotion_sku",
    metadata,
    Column("vendor_key", Integer, ForeignKey("vendor.id"), primary_key=True),
    Column("sku", Text, primary_key=True),
    Column("promotion_id", Integer, ForeignKey("promotion.id"), primary_key=True),
    Column("seen_from_us", Integer, primary_key=True, comment="from when the app shows this value"),
    Column("seen_until_us", Integer, comment="null: the value in force; otherwise replaced or removed"),
    Column("subtype", Text, nullable=False, comment="FINAL_PRICE, PERCENTAGE, ABSOLUTE"),
    Column("value_milli", Integer, nullable=False, comment="thousandths of a price or of a per cent"),
    Column("max_quantity", Integer),
    Index("promotion_sku_by_promotion", "promotion_id", "vendor_key"),
    sqlite_with_rowid=False,
)

promotion_request = Table(
    "promotion_request",
    metadata,
    Column("job_seq", Integer, ForeignKey("job.seq"), primary_key=True),
    Column("body", LargeBinary, nullable=False, comment="until the job has run"),
)
