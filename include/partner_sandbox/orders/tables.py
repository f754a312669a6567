"""Orders, each as one document beside the columns it is found by."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, Table, Text

from partner_sandbox.storage import metadata

order = Table(
    "customer_order",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("order_id", Text, nullable=False, unique=True),
    Column("chain", Text, nullable=False),
    Column("vendor_key", Integer, ForeignKey("vendor.id"), nullable=False),
    Column("state", Text, nullable=False),
    Column("created_us", Integer, nullable=False),
    Column("updated_us", Integer, nullable=False),
    Column("document", Text, nullable=False, comment="the whole of it, orders.order.Order as JSON"),
    Column("before", Text, comment="the document before its last change, for a replica that lags"),
    Index("customer_order_by_time", "vendor_key", "created_us"),
)
