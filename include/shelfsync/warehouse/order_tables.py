"""Orders as people ask about them: the order, its items beside what was ordered, its promotions; the customer apart and sealed."""

from __future__ import annotations

import sqlalchemy as sa

from shelfsync.ledger.metadata import metadata


def _text(name: str, comment: str, *, nullable: bool = True) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=nullable, comment=comment)


def _time(name: str, comment: str, *, nullable: bool = True) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable, comment=comment)


def _number(name: str, comment: str) -> sa.Column[object]:
    return sa.Column(name, sa.Numeric, comment=comment)


customer_order = sa.Table(
    "customer_order",
    metadata,
    sa.Column("order_id", sa.Text, primary_key=True, comment="The platform's identifier of the order"),
    _text("vendor", "The store"),
    _text("external_order_id", "The platform's reference, for support"),
    _text("order_code", "The short code"),
    _text("transport_type", "LOGISTICS_DELIVERY or VENDOR_DELIVERY"),
    _text("order_type", "DELIVERY or PICKUP"),
    _text("status", "What it is, in the platform's words", nullable=False),
    _time("placed_at", "When the customer placed it"),
    _time("promised_for", "When the customer was promised it"),
    _time("accepted_for", "When the store said that it would be there"),
    _time("fulfilled_at", "When its picking ended; null: it did not, or nobody told when"),
    _time("cancelled_at", "When it was cancelled"),
    _text("cancelled_by", "CUSTOMER, LOGISTICS or VENDOR, where it was told"),
    _text("cancel_reason", "The code of the reason, where it was told"),
    _number("sub_total", "What the items come to"),
    _number("order_total", "What the customer pays"),
    _time("updated_at", "The platform's instant of what stands here"),
    sa.Index("ix_customer_order_placed_at", "placed_at"),
    schema="warehouse",
    comment="One row an order, as it is now",
)

order_item = sa.Table(
    "order_item",
    metadata,
    sa.Column(
        "order_id", sa.Text, sa.ForeignKey("warehouse.customer_order.order_id"), primary_key=True, comment="The order"
    ),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False, comment="Place in the order, from 1"),
    _text("item_id", "The platform's _id"),
    _text("sku", "The SKU"),
    _text("name", "Its name"),
    _text("status", "NOT_PROCESSED, IN_CART, NOT_FOUND, REPLACED or ADDITION"),
    _text("replaced_id", "The item_id of what it replaces"),
    _text("pricing_type", "UNIT or KG"),
    _number("quantity", "Pieces now"),
    _number("weight", "Kilograms now"),
    _number("unit_price", "Price of a piece or a kilogram"),
    _number("total_price", "What it comes to"),
    _number("list_price", "Price before discounts"),
    _number("ordered_quantity", "Pieces that were ordered; null for what was not ordered"),
    _number("ordered_weight", "Kilograms that were ordered"),
    _number("ordered_total_price", "What it came to when it was ordered"),
    sa.Index("ix_order_item_sku", "sku"),
    schema="warehouse",
    comment="One row an item of an order, as it is now, beside what was ordered",
)

order_promotion = sa.Table(
    "order_promotion",
    metadata,
    sa.Column("order_id", sa.Text, primary_key=True, comment="The order"),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False, comment="The item's place in the order"),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False, comment="From 1, where an item has several"),
    _text("name", "Its display name"),
    _text("type", "STRIKETHROUGH and the like"),
    _number("discount_amount", "What it takes off"),
    _number("vendor_amount", "What of it the store pays"),
    sa.ForeignKeyConstraint(
        ["order_id", "position"], ["warehouse.order_item.order_id", "warehouse.order_item.position"], ondelete="CASCADE"
    ),
    schema="warehouse",
    comment="Promotions that were fixed on an item when the order was placed",
)

order_customer = sa.Table(
    "order_customer",
    metadata,
    sa.Column(
        "order_id", sa.Text, sa.ForeignKey("warehouse.customer_order.order_id"), primary_key=True, comment="The order"
    ),
    sa.Column(
        "sealed",
        sa.LargeBinary,
        nullable=False,
        comment="Name, phone, address and whatever else may tell of a person, encrypted with SHELFSYNC_ORDERS__PERSONAL_KEY; empty: forgotten on request",
    ),
    _time("remove_at", "When this row is removed", nullable=False),
    sa.Index("ix_order_customer_remove_at", "remove_at"),
    schema="warehouse",
    comment="One row an order whose customer is still known; removed after the retention time",
)
