"""Orders: versions, hand-overs, picking results, the history's ledger; the order and its customer in the warehouse."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "customer_order",
        sa.Column("order_id", sa.Text(), nullable=False, comment="The platform's identifier of the order"),
        sa.Column(
            "vendor",
            sa.Text(),
            nullable=True,
            comment="The store it is for, as this partner calls it; null until anybody said so",
        ),
        sa.Column("status", sa.Text(), nullable=False, comment="What it is now, in the platform's words"),
        sa.Column("transport_type", sa.Text(), nullable=True, comment="LOGISTICS_DELIVERY or VENDOR_DELIVERY"),
        sa.Column("order_type", sa.Text(), nullable=True, comment="DELIVERY or PICKUP"),
        sa.Column(
            "order_code", sa.Text(), nullable=True, comment="The short code that riders and stores read to each other"
        ),
        sa.Column(
            "promised_for", sa.DateTime(timezone=True), nullable=True, comment="When the customer was promised it"
        ),
        sa.Column(
            "placed_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When the customer placed it, by the platform's clock",
        ),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="The platform's instant of the version that rules",
        ),
        sa.Column(
            "read_back_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When the platform was last asked for it; null: never",
        ),
        sa.Column(
            "first_seen_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("ledger.instant()"),
            nullable=False,
            comment="When we first heard of it",
        ),
        sa.PrimaryKeyConstraint("order_id", name=op.f("pk_customer_order")),
        schema="ledger",
        comment="One row an order; locked while it moves. What it is follows from its versions alone",
    )
    op.create_index("ix_customer_order_status", "customer_order", ["status", "vendor"], unique=False, schema="ledger")
    op.create_index(
        "ix_customer_order_vendor_placed_at", "customer_order", ["vendor", "placed_at"], unique=False, schema="ledger"
    )
    op.create_table(
        "order_alarm",
        sa.Column("kind", sa.Text(), nullable=False, comment="not_taken, not_sent or history"),
        sa.Column("subject", sa.Text(), nullable=False, comment="The store it is about"),
        sa.Column("message", sa.Text(), nullable=False, comment="The line that was told"),
        sa.Column(
            "raised_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("ledger.instant()"),
            nullable=False,
            comment="When it was told, once",
        ),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True, comment="When it was over; null: it lasts"),
        sa.PrimaryKeyConstraint("kind", "subject", name=op.f("pk_order_alarm")),
        schema="ledger",
        comment="Stalls of the orders' way: each is told once, and once more only after it was over",
    )
    op.create_table(
        "order_day",
        sa.Column("vendor", sa.Text(), nullable=False, comment="The store"),
        sa.Column("day", sa.Date(), nullable=False, comment="The day in UTC on which orders were placed"),
        sa.Column(
            "in_history",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Orders of the day in the platform's history",
        ),
        sa.Column(
            "in_inbox",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Those of them of which an event came",
        ),
        sa.Column(
            "repaired",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Those that only the history told of, after the first event ever",
        ),
        sa.Column(
            "counted_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("ledger.instant()"),
            nullable=False,
            comment="When it was counted",
        ),
        sa.PrimaryKeyConstraint("vendor", "day", name=op.f("pk_order_day")),
        schema="ledger",
        comment="The completeness of orders: one row a store and day that the history covers whole",
    )
    op.create_table(
        "order_history",
        sa.Column("vendor", sa.Text(), nullable=False, comment="The store"),
        sa.Column(
            "covered_to",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="The history is known for every order placed before this instant (the watermark)",
        ),
        sa.Column(
            "window_start",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="The window that is being read; null: none",
        ),
        sa.Column("window_end", sa.DateTime(timezone=True), nullable=True, comment="Its end"),
        sa.Column("next_page", sa.Integer(), server_default="1", nullable=False, comment="The page to read next"),
        sa.Column("pages", sa.Integer(), nullable=True, comment="Pages of the window, as the first of them said"),
        sa.Column(
            "tries", sa.Integer(), server_default="0", nullable=False, comment="How often the window was begun again"
        ),
        sa.Column("read_at", sa.DateTime(timezone=True), nullable=True, comment="When a page was last read"),
        sa.Column("error", sa.Text(), nullable=True, comment="Why the last reading broke off, in one line"),
        sa.PrimaryKeyConstraint("vendor", name=op.f("pk_order_history")),
        schema="ledger",
        comment="How far each store's order history is known; moves in the transaction that lands a page",
    )
    op.create_table(
        "order_product",
        sa.Column("vendor", sa.Text(), nullable=False, comment="The store"),
        sa.Column("sku", sa.Text(), nullable=False, comment="The SKU that somebody wanted to put into an order"),
        sa.Column("known", sa.Boolean(), nullable=False, comment="Whether the store's catalog has it, active or not"),
        sa.Column("price", sa.Numeric(precision=20, scale=3), nullable=True, comment="The catalog price"),
        sa.Column(
            "by_weight", sa.Boolean(), nullable=True, comment="Whether it is weighed; null: the platform does not say"
        ),
        sa.Column("name", sa.Text(), nullable=True, comment="Its title"),
        sa.Column(
            "asked_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("ledger.instant()"),
            nullable=False,
            comment="When the platform was asked",
        ),
        sa.PrimaryKeyConstraint("vendor", "sku", name=op.f("pk_order_product")),
        schema="ledger",
        comment="What the platform's listing lately said of SKUs that replace or are added; asked again after some minutes",
    )
    op.create_table(
        "picking_result",
        sa.Column(
            "result_no",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="Our number of the result, in order of arrival",
        ),
        sa.Column("order_id", sa.Text(), nullable=False, comment="The order it is about; nobody may know it yet"),
        sa.Column(
            "result_id",
            sa.Text(),
            nullable=False,
            comment="The store's name for it; the same name again is the same result",
        ),
        sa.Column("source", sa.Text(), nullable=False, comment="table, http or cli"),
        sa.Column("digest", sa.Text(), nullable=False, comment="Hash of its content, so that a name is not used twice"),
        sa.Column("body", sa.Text(), nullable=False, comment="What the store said, as JSON text"),
        sa.Column("action", sa.Text(), nullable=False, comment="accept, check, fulfil or cancel"),
        sa.Column(
            "state",
            sa.Text(),
            server_default="waiting",
            nullable=False,
            comment="waiting, sending (may be with the platform), answered (the platform said yes), done, checked, refused or overtaken",
        ),
        sa.Column(
            "problems",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=True,
            comment="Why it was refused: a list of rule and message",
        ),
        sa.Column(
            "feedback",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=True,
            comment="What UPDATE_CART answered: items with their prices, and totals",
        ),
        sa.Column(
            "base_updated_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="The platform's instant of the order before the request left",
        ),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False, comment="How often a request left"),
        sa.Column(
            "looks", sa.Integer(), server_default="0", nullable=False, comment="How often it was worked on in vain"
        ),
        sa.Column("next_try_at", sa.DateTime(timezone=True), nullable=True, comment="When to go on with it; null: now"),
        sa.Column(
            "claimed_until",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="Until when one process alone works on it",
        ),
        sa.Column("error", sa.Text(), nullable=True, comment="What stood in the way last, in one line"),
        sa.Column(
            "received_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("ledger.instant()"),
            nullable=False,
            comment="When it was stored",
        ),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True, comment="When a request last left"),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True, comment="When its end was known"),
        sa.CheckConstraint(
            "state IN ('waiting', 'sending', 'answered', 'done', 'checked', 'refused', 'overtaken')",
            name=op.f("ck_picking_result_state"),
        ),
        sa.PrimaryKeyConstraint("result_no", name=op.f("pk_picking_result")),
        sa.UniqueConstraint("order_id", "result_id", name=op.f("uq_picking_result_order_id_result_id")),
        schema="ledger",
        comment="One row a result of a store, durable before the store is told so; what became of it",
    )
    op.create_index(
        "ix_picking_result_open",
        "picking_result",
        ["order_id", "result_no"],
        unique=False,
        schema="ledger",
        postgresql_where=sa.text("state IN ('waiting', 'sending', 'answered')"),
    )
    op.create_table(
        "customer_order",
        sa.Column("order_id", sa.Text(), nullable=False, comment="The platform's identifier of the order"),
        sa.Column("vendor", sa.Text(), nullable=True, comment="The store"),
        sa.Column("external_order_id", sa.Text(), nullable=True, comment="The platform's reference, for support"),
        sa.Column("order_code", sa.Text(), nullable=True, comment="The short code"),
        sa.Column("transport_type", sa.Text(), nullable=True, comment="LOGISTICS_DELIVERY or VENDOR_DELIVERY"),
        sa.Column("order_type", sa.Text(), nullable=True, comment="DELIVERY or PICKUP"),
        sa.Column("status", sa.Text(), nullable=False, comment="What it is, in the platform's words"),
        sa.Column("placed_at", sa.DateTime(timezone=True), nullable=True, comment="When the customer placed it"),
        sa.Column(
            "promised_for", sa.DateTime(timezone=True), nullable=True, comment="When the customer was promised it"
        ),
        sa.Column(
            "accepted_for",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When the store said that it would be there",
        ),
        sa.Column(
            "fulfilled_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When its picking ended; null: it did not, or nobody told when",
        ),
        sa.Column("cancelled_at", sa.DateTime(timezone=True), nullable=True, comment="When it was cancelled"),
        sa.Column("cancelled_by", sa.Text(), nullable=True, comment="CUSTOMER, LOGISTICS or VENDOR, where it was told"),
        sa.Column("cancel_reason", sa.Text(), nullable=True, comment="The code of the reason, where it was told"),
        sa.Column("sub_total", sa.Numeric(), nullable=True, comment="What the items come to"),
        sa.Column("order_total", sa.Numeric(), nullable=True, comment="What the customer pays"),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="The platform's instant of what stands here",
        ),
        sa.PrimaryKeyConstraint("order_id", name=op.f("pk_customer_order")),
        schema="warehouse",
        comment="One row an order, as it is now",
    )
    op.create_index("ix_customer_order_placed_at", "customer_order", ["placed_at"], unique=False, schema="warehouse")
    op.create_table(
        "hand_over",
        sa.Column(
            "hand_over_id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="The number by which the store knows a repeat",
        ),
        sa.Column("order_id", sa.Text(), nullable=False, comment="The order"),
        sa.Column(
            "kind", sa.Text(), nullable=False, comment="new, cancelled, or reply: what became of a picking result"
        ),
        sa.Column(
            "result_no", sa.BigInteger(), server_default="0", nullable=False, comment="Replies: the result; otherwise 0"
        ),
        sa.Column(
            "state",
            sa.Text(),
            server_default="waiting",
            nullable=False,
            comment="waiting, written (the store can see it), taken (the store has it) or dropped (overtaken, never written for sure)",
        ),
        sa.Column(
            "attempts", sa.Integer(), server_default="0", nullable=False, comment="How often it was written or tried"
        ),
        sa.Column("next_try_at", sa.DateTime(timezone=True), nullable=True, comment="When to try again"),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("ledger.instant()"),
            nullable=False,
            comment="When it was planned",
        ),
        sa.Column("written_at", sa.DateTime(timezone=True), nullable=True, comment="When the store could first see it"),
        sa.Column("taken_at", sa.DateTime(timezone=True), nullable=True, comment="When the store was known to have it"),
        sa.Column("error", sa.Text(), nullable=True, comment="Why the last try failed, in one line"),
        sa.CheckConstraint("kind IN ('new', 'cancelled', 'reply')", name=op.f("ck_hand_over_kind")),
        sa.CheckConstraint("state IN ('waiting', 'written', 'taken', 'dropped')", name=op.f("ck_hand_over_state")),
        sa.ForeignKeyConstraint(["order_id"], ["ledger.customer_order.order_id"], name=op.f("fk_hand_over_order_id")),
        sa.PrimaryKeyConstraint("hand_over_id", name=op.f("pk_hand_over")),
        sa.UniqueConstraint("order_id", "kind", "result_no", name=op.f("uq_hand_over_order_id_kind_result_no")),
        schema="ledger",
        comment="One row a thing that a store has to be told: at least once, with a number that makes a repeat known",
    )
    op.create_index(
        "ix_hand_over_open",
        "hand_over",
        ["hand_over_id"],
        unique=False,
        schema="ledger",
        postgresql_where=sa.text("state IN ('waiting', 'written')"),
    )
    op.create_table(
        "order_gap",
        sa.Column("order_id", sa.Text(), nullable=False, comment="The order"),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The store"),
        sa.Column("placed_at", sa.DateTime(timezone=True), nullable=True, comment="When it was placed"),
        sa.Column("status", sa.Text(), nullable=False, comment="What it was when it was found"),
        sa.Column(
            "found_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("ledger.instant()"),
            nullable=False,
            comment="When the history told of it; that repaired it",
        ),
        sa.ForeignKeyConstraint(["order_id"], ["ledger.customer_order.order_id"], name=op.f("fk_order_gap_order_id")),
        sa.PrimaryKeyConstraint("order_id", name=op.f("pk_order_gap")),
        schema="ledger",
        comment="Orders of which no event had come when the history told of them",
    )
    op.create_table(
        "order_version",
        sa.Column(
            "version_id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="Order in which they became known",
        ),
        sa.Column("order_id", sa.Text(), nullable=False, comment="The order"),
        sa.Column(
            "source",
            sa.Text(),
            nullable=False,
            comment="event, answer (to a PUT), read_back (GET of the order) or history",
        ),
        sa.Column("digest", sa.Text(), nullable=False, comment="Hash of the body"),
        sa.Column("status", sa.Text(), nullable=False, comment="The platform's word for it then"),
        sa.Column(
            "updated_at", sa.DateTime(timezone=True), nullable=True, comment="The platform's instant of this version"
        ),
        sa.Column("body", sa.Text(), nullable=False, comment="What was told, as JSON text, without anything personal"),
        sa.Column("event_id", sa.BigInteger(), nullable=True, comment="The event of the inbox that told it"),
        sa.Column(
            "seen_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("ledger.instant()"),
            nullable=False,
            comment="When we first heard of it from this source",
        ),
        sa.CheckConstraint(
            "source IN ('event', 'answer', 'read_back', 'history')", name=op.f("ck_order_version_source")
        ),
        sa.ForeignKeyConstraint(
            ["order_id"], ["ledger.customer_order.order_id"], name=op.f("fk_order_version_order_id")
        ),
        sa.PrimaryKeyConstraint("version_id", name=op.f("pk_order_version")),
        sa.UniqueConstraint("order_id", "source", "digest", name=op.f("uq_order_version_order_id_source_digest")),
        schema="ledger",
        comment="One row a version of an order and a source that told it; never changed",
    )
    op.create_table(
        "order_customer",
        sa.Column("order_id", sa.Text(), nullable=False, comment="The order"),
        sa.Column(
            "sealed",
            sa.LargeBinary(),
            nullable=False,
            comment="Name, phone, address and whatever else may tell of a person, encrypted with SHELFSYNC_ORDERS__PERSONAL_KEY",
        ),
        sa.Column("remove_at", sa.DateTime(timezone=True), nullable=False, comment="When this row is removed"),
        sa.ForeignKeyConstraint(
            ["order_id"], ["warehouse.customer_order.order_id"], name=op.f("fk_order_customer_order_id")
        ),
        sa.PrimaryKeyConstraint("order_id", name=op.f("pk_order_customer")),
        schema="warehouse",
        comment="One row an order whose customer is still known; removed after the retention time",
    )
    op.create_index("ix_order_customer_remove_at", "order_customer", ["remove_at"], unique=False, schema="warehouse")
    op.create_table(
        "order_item",
        sa.Column("order_id", sa.Text(), nullable=False, comment="The order"),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False, comment="Place in the order, from 1"),
        sa.Column("item_id", sa.Text(), nullable=True, comment="The platform's _id"),
        sa.Column("sku", sa.Text(), nullable=True, comment="The SKU"),
        sa.Column("name", sa.Text(), nullable=True, comment="Its name"),
        sa.Column(
            "status", sa.Text(), nullable=True, comment="NOT_PROCESSED, IN_CART, NOT_FOUND, REPLACED or ADDITION"
        ),
        sa.Column("replaced_id", sa.Text(), nullable=True, comment="The item_id of what it replaces"),
        sa.Column("pricing_type", sa.Text(), nullable=True, comment="UNIT or KG"),
        sa.Column("quantity", sa.Numeric(), nullable=True, comment="Pieces now"),
        sa.Column("weight", sa.Numeric(), nullable=True, comment="Kilograms now"),
        sa.Column("unit_price", sa.Numeric(), nullable=True, comment="Price of a piece or a kilogram"),
        sa.Column("total_price", sa.Numeric(), nullable=True, comment="What it comes to"),
        sa.Column("list_price", sa.Numeric(), nullable=True, comment="Price before discounts"),
        sa.Column(
            "ordered_quantity",
            sa.Numeric(),
            nullable=True,
            comment="Pieces that were ordered; null for what was not ordered",
        ),
        sa.Column("ordered_weight", sa.Numeric(), nullable=True, comment="Kilograms that were ordered"),
        sa.Column("ordered_total_price", sa.Numeric(), nullable=True, comment="What it came to when it was ordered"),
        sa.ForeignKeyConstraint(
            ["order_id"], ["warehouse.customer_order.order_id"], name=op.f("fk_order_item_order_id")
        ),
        sa.PrimaryKeyConstraint("order_id", "position", name=op.f("pk_order_item")),
        schema="warehouse",
        comment="One row an item of an order, as it is now, beside what was ordered",
    )
    op.create_index("ix_order_item_sku", "order_item", ["sku"], unique=False, schema="warehouse")
    op.create_table(
        "order_promotion",
        sa.Column("order_id", sa.Text(), nullable=False, comment="The order"),
        sa.Column(
            "position", sa.Integer(), autoincrement=False, nullable=False, comment="The item's place in the order"
        ),
        sa.Column(
            "number", sa.Integer(), autoincrement=False, nullable=False, comment="From 1, where an item has several"
        ),
        sa.Column("name", sa.Text(), nullable=True, comment="Its display name"),
        sa.Column("type", sa.Text(), nullable=True, comment="STRIKETHROUGH and the like"),
        sa.Column("discount_amount", sa.Numeric(), nullable=True, comment="What it takes off"),
        sa.Column("vendor_amount", sa.Numeric(), nullable=True, comment="What of it the store pays"),
        sa.ForeignKeyConstraint(
            ["order_id", "position"],
            ["warehouse.order_item.order_id", "warehouse.order_item.position"],
            name=op.f("fk_order_promotion_order_id_position"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("order_id", "position", "number", name=op.f("pk_order_promotion")),
        schema="warehouse",
        comment="Promotions that were fixed on an item when the order was placed",
    )


def downgrade() -> None:
    op.drop_table("order_promotion", schema="warehouse")
    op.drop_table("order_item", schema="warehouse")
    op.drop_table("order_customer", schema="warehouse")
    op.drop_table("order_version", schema="ledger")
    op.drop_table("order_gap", schema="ledger")
    op.drop_table("hand_over", schema="ledger")
    op.drop_table("customer_order", schema="warehouse")
    op.drop_table("picking_result", schema="ledger")
    op.drop_table("order_product", schema="ledger")
    op.drop_table("order_history", schema="ledger")
    op.drop_table("order_day", schema="ledger")
    op.drop_table("order_alarm", schema="ledger")
    op.drop_table("customer_order", schema="ledger")
