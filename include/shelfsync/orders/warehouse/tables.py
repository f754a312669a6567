"""The warehouse tables of orders: the order, its items with the ordered amounts, its promotions, and the encrypted customer."""

from __future__ import annotations

import sqlalchemy as sa

from shelfsync.store.metadata import metadata, moment, text


def _number(name: str, comment: str) -> sa.Column[object]:
    return sa.Column(name, sa.Numeric, comment=comment)


customer_order = sa.Table(
    "customer_order",
    metadata,
    sa.Column("order_id", sa.Text, primary_key=True, comment="The platform's identifier of the order"),
    text("vendor", "The store"),
    text("external_order_id", "The platform's reference, for support"),
    text("order_code", "The short code"),
    text("transport_type", "LOGISTICS_DELIVERY or VENDOR_DELIVERY"),
    text("order_type", "DELIVERY or PICKUP"),
    text("status", "The platform's status", nullable=False),
    moment("placed_at", "When the customer placed it"),
    moment("promised_for", "When the customer was promised it"),
    moment("accepted_for", "The delivery time that the store accepted"),
    moment("fulfilled_at", "When its picking ended; null: it did not, or the time is unknown"),
    moment("cancelled_at", "When it was cancelled"),
    text("cancelled_by", "CUSTOMER, LOGISTICS or VENDOR; null: unknown"),
    text("cancel_reason", "The code of the reason; null: unknown"),
    _number("sub_total", "The sum of the items"),
    _number("order_total", "What the customer pays"),
    moment("updated_at", "The platform's instant of this state"),
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
    text("item_id", "The platform's _id"),
    text("sku", "The SKU"),
    text("name", "Its name"),
    text("status", "NOT_PROCESSED, IN_CART, NOT_FOUND, REPLACED or ADDITION"),
    text("replaced_id", "The item_id of what it replaces"),
    text("pricing_type", "UNIT or KG"),
    _number("quantity", "Pieces now"),
    _number("weight", "Kilograms now"),
    _number("unit_price", "Price of a piece or a kilogram"),
    _number("total_price", "Its total price"),
    _number("list_price", "Price before discounts"),
    _number("ordered_quantity", "Pieces that were ordered; null for what was not ordered"),
    _number("ordered_weight", "Kilograms that were ordered"),
    _number("ordered_total_price", "Its total price when it was ordered"),
    sa.Index("ix_order_item_sku", "sku"),
    schema="warehouse",
    comment="One row an item of an order, as it is now and as it was ordered",
)

order_promotion = sa.Table(
    "order_promotion",
    metadata,
    sa.Column("order_id", sa.Text, primary_key=True, comment="The order"),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False, comment="The item's place in the order"),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False, comment="From 1, where an item has several"),
    text("name", "Its display name"),
    text("type", "STRIKETHROUGH and the like"),
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
        "encrypted",
        sa.LargeBinary,
        nullable=False,
        comment="Name, phone, address and all other personal data, encrypted with SHELFSYNC_ORDERS__ENCRYPTION_KEY; empty: forgotten on request",
    ),
    moment("remove_at", "When this row is removed", nullable=False),
    sa.Index("ix_order_customer_remove_at", "remove_at"),
    schema="warehouse",
    comment="One row an order whose customer data is stored; removed after the retention time",
)
