"""The ledger tables of orders: versions, hand-overs, picking results, and how far the history is known.

No table has personal data: shelfsync splits it off first, and stores it encrypted in the warehouse.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from shelfsync.store import columns
from shelfsync.store.metadata import metadata

customer_order = sa.Table(
    "customer_order",
    metadata,
    sa.Column("order_id", sa.Text, primary_key=True, comment="The platform's identifier of the order"),
    columns.text("vendor", "The store it is for, by the partner's id; null until it is known"),
    columns.text("status", "The platform's status now", nullable=False),
    columns.text("transport_type", "LOGISTICS_DELIVERY or VENDOR_DELIVERY"),
    columns.text("order_type", "DELIVERY or PICKUP"),
    columns.text("order_code", "The short code that riders and stores read to each other"),
    columns.moment("promised_for", "When the customer was promised it"),
    columns.moment("placed_at", "When the customer placed it, by the platform's clock"),
    columns.moment("updated_at", "The platform's instant of the version that applies"),
    columns.moment("read_back_at", "When it was last read back from the platform; null: never"),
    columns.written("first_seen_at", "When it was first received"),
    columns.moment(
        "ask_again_at", "After a failed request for its vendor: when to request it again; null: no such failure"
    ),
    sa.Column(
        "cancellation_due",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="True: it is cancelled, and the hand-over of the cancellation may still have to be planned",
    ),
    sa.Index("ix_customer_order_status", "status", "vendor"),
    sa.Index("ix_customer_order_vendor_placed_at", "vendor", "placed_at"),
    sa.Index(
        "ix_customer_order_cancellation_due",
        "order_id",
        postgresql_where=sa.text("cancellation_due"),
    ),
    schema="ledger",
    comment="One row an order, locked during a change. It follows from its versions alone",
)

order_version = sa.Table(
    "order_version",
    metadata,
    columns.identity("version_id", "Order in which they became known"),
    sa.Column(
        "order_id",
        sa.Text,
        sa.ForeignKey("ledger.customer_order.order_id"),
        nullable=False,
        comment="The order",
    ),
    columns.text("source", "event, answer (to a PUT), read_back (GET of the order) or history", nullable=False),
    columns.text("digest", "Hash of the body", nullable=False),
    columns.text("status", "The platform's status then", nullable=False),
    columns.moment("updated_at", "The platform's instant of this version"),
    columns.text("body", "The order as JSON text, without personal data", nullable=False),
    sa.Column("event_id", sa.BigInteger, comment="The event of the inbox that brought it"),
    columns.written("seen_at", "When it was first received from this source"),
    sa.UniqueConstraint("order_id", "source", "digest"),
    sa.CheckConstraint("source IN ('event', 'answer', 'read_back', 'history')", name="source"),
    sa.Index("ix_order_version_event", "seen_at", postgresql_where=sa.text("source = 'event'")),
    schema="ledger",
    comment="One row a version of an order and its source; never changed",
)

hand_over = sa.Table(
    "hand_over",
    metadata,
    columns.identity("hand_over_id", "The number by which the store knows a repeat"),
    sa.Column(
        "order_id", sa.Text, sa.ForeignKey("ledger.customer_order.order_id"), nullable=False, comment="The order"
    ),
    columns.text("kind", "new, cancelled, or reply: the outcome of a picking result", nullable=False),
    sa.Column(
        "result_no", sa.BigInteger, nullable=False, server_default="0", comment="Replies: the result; otherwise 0"
    ),
    sa.Column(
        "state",
        sa.Text,
        nullable=False,
        server_default="waiting",
        comment="waiting, written (the store can see it), taken (the store has it) or dropped (no longer needed; perhaps never written)",
    ),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0", comment="How often writing was attempted"),
    columns.moment("next_try_at", "When to try again"),
    columns.written("created_at", "When it was planned"),
    columns.moment("written_at", "When the store could first see it"),
    columns.moment("taken_at", "When the store was known to have it"),
    columns.text("error", "Why the last attempt failed, in one line"),
    sa.Column(
        "postponements",
        sa.Integer,
        nullable=False,
        server_default="0",
        comment="How often it was postponed, also before the first attempt",
    ),
    sa.UniqueConstraint("order_id", "kind", "result_no"),
    sa.CheckConstraint("kind IN ('new', 'cancelled', 'reply')", name="kind"),
    sa.CheckConstraint("state IN ('waiting', 'written', 'taken', 'dropped')", name="state"),
    sa.Index("ix_hand_over_open", "hand_over_id", postgresql_where=sa.text("state IN ('waiting', 'written')")),
    sa.Index("ix_hand_over_dropped", "order_id", postgresql_where=sa.text("state = 'dropped'")),
    schema="ledger",
    comment="One row a document for a store, delivered at least once; its number identifies a repeat",
)

picking_result = sa.Table(
    "picking_result",
    metadata,
    columns.identity("result_no", "The number of the result, in order of arrival"),
    columns.text("order_id", "The order; it may still be unknown", nullable=False),
    columns.text("result_id", "The store's id of it; a repeat has the same id", nullable=False),
    columns.text("source", "table, http or cli", nullable=False),
    columns.text(
        "vendor", "The store whose secret was sent with it over HTTP; null: it came from the table or a command"
    ),
    columns.text("digest", "Hash of its content, so that a result_id is not used twice", nullable=False),
    columns.text("body", "The result as JSON text", nullable=False),
    columns.text("action", "accept, check, fulfil or cancel", nullable=False),
    sa.Column(
        "state",
        sa.Text,
        nullable=False,
        server_default="waiting",
        comment="waiting, sending (the platform may have it), answered (the platform accepted it), done, checked, rejected, overtaken or quarantined (it could not be processed)",
    ),
    sa.Column("problems", JSONB, comment="Why it was rejected: a list of rule and message"),
    sa.Column("feedback", JSONB, comment="The answer to UPDATE_CART: items with their prices, and totals"),
    columns.moment("base_updated_at", "The platform's instant of the order before the request was sent"),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0", comment="How often a request was sent"),
    sa.Column(
        "postponements",
        sa.Integer,
        nullable=False,
        server_default="0",
        comment="How often it was postponed since its last progress",
    ),
    columns.moment("next_try_at", "When to go on with it; null: now"),
    columns.text("error", "Why the last attempt failed, in one line"),
    columns.written("received_at", "When it was stored"),
    columns.moment("sent_at", "When a request was last sent"),
    columns.moment("ended_at", "When its outcome was known"),
    sa.Column(
        "reply_due",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="True: it has ended, and the reply to the store may still have to be planned",
    ),
    sa.UniqueConstraint("order_id", "result_id"),
    sa.CheckConstraint(
        "state IN ('waiting', 'sending', 'answered', 'done', 'checked', 'rejected', 'overtaken', 'quarantined')",
        name="state",
    ),
    sa.Index(
        "ix_picking_result_open",
        "order_id",
        "result_no",
        postgresql_where=sa.text("state IN ('waiting', 'sending', 'answered')"),
    ),
    sa.Index(
        "ix_picking_result_reply_due",
        "result_no",
        postgresql_where=sa.text("reply_due"),
    ),
    sa.Index("ix_picking_result_quarantined", "result_no", postgresql_where=sa.text("state = 'quarantined'")),
    schema="ledger",
    comment="One row a picking result, durable before the answer to the store, with its outcome",
)

order_product = sa.Table(
    "order_product",
    metadata,
    sa.Column("vendor", sa.Text, primary_key=True, comment="The store"),
    sa.Column("sku", sa.Text, primary_key=True, comment="The SKU that a store replaces or adds"),
    sa.Column("known", sa.Boolean, nullable=False, comment="Whether the store's catalog has it, active or not"),
    sa.Column("price", sa.Numeric(20, 3), comment="The catalog price"),
    sa.Column("by_weight", sa.Boolean, comment="Whether it is weighed; null: the platform does not report it"),
    columns.text("name", "Its title"),
    columns.written("asked_at", "When it was requested from the platform"),
    schema="ledger",
    comment="Recent catalog entries of SKUs that replace or are added; requested again after some minutes",
)

order_history = sa.Table(
    "order_history",
    metadata,
    sa.Column("vendor", sa.Text, primary_key=True, comment="The store"),
    columns.moment("covered_to", "The history is known for every order placed before this instant (the watermark)"),
    columns.moment("window_start", "The window that is being read; null: none"),
    columns.moment("window_end", "Its end"),
    sa.Column("next_page", sa.Integer, nullable=False, server_default="1", comment="The page to read next"),
    sa.Column("pages", sa.Integer, comment="Pages of the window, as the first page reports"),
    sa.Column("tries", sa.Integer, nullable=False, server_default="0", comment="How often the window was restarted"),
    columns.text("page_digest", "Hash of the orders of the last page; a page with the same hash is rejected"),
    columns.written("since", "When this store's history was first requested"),
    columns.moment("read_at", "When a page was last read"),
    columns.text("error", "Why the last reading failed, in one line"),
    schema="ledger",
    comment="How far each store's order history is known; moves in the transaction that stores a page",
)

order_day = sa.Table(
    "order_day",
    metadata,
    sa.Column("vendor", sa.Text, primary_key=True, comment="The store"),
    sa.Column("day", sa.Date, primary_key=True, comment="The day in UTC on which orders were placed"),
    columns.count("in_history", "Orders of the day in the platform's history"),
    columns.count("in_inbox", "Those with an event"),
    columns.count("repaired", "Those without an event, placed after the first event: the gaps"),
    columns.written("counted_at", "When it was counted"),
    sa.Index("ix_order_day_day", "day"),
    schema="ledger",
    comment="The completeness of orders: one row a store and day that the history covers completely",
)

order_gap = sa.Table(
    "order_gap",
    metadata,
    sa.Column(
        "order_id", sa.Text, sa.ForeignKey("ledger.customer_order.order_id"), primary_key=True, comment="The order"
    ),
    columns.text("vendor", "The store", nullable=False),
    columns.moment("placed_at", "When it was placed"),
    columns.text("status", "Its status when it was found", nullable=False),
    columns.written("found_at", "When the history returned it; that repaired the gap"),
    schema="ledger",
    comment="Orders that had no event when the history returned them",
)

order_alarm = sa.Table(
    "order_alarm",
    metadata,
    sa.Column(
        "kind",
        sa.Text,
        primary_key=True,
        comment="not_taken, missed, overdue, not_sent, unreadable, quarantined or history",
    ),
    sa.Column("subject", sa.Text, primary_key=True, comment="The store, or the result, it is about"),
    columns.text("message", "The reported line", nullable=False),
    columns.written("raised_at", "When it was reported, once"),
    columns.moment("ended_at", "When it ended; null: it is open"),
    schema="ledger",
    comment="Alarms about stalled orders: each is reported once, and again only after it has ended",
)
