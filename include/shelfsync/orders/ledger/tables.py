"""The ledger tables of orders: versions, hand-overs, picking results, and how far the history is known.

No table has personal data: shelfsync splits it off first, and stores it encrypted in the warehouse.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from shelfsync.store.metadata import (
    boolean,
    count,
    flag,
    identity,
    line,
    metadata,
    moment,
    number,
    text,
    tries,
    written,
)

customer_order = sa.Table(
    "customer_order",
    metadata,
    text("order_id", "The platform's identifier of the order", primary_key=True),
    text("vendor", "The store it is for, by the partner's id; null until it is known"),
    text("status", "The platform's status now", nullable=False),
    text("transport_type", "LOGISTICS_DELIVERY or VENDOR_DELIVERY"),
    text("order_type", "DELIVERY or PICKUP"),
    text("order_code", "The short code that riders and stores read to each other"),
    moment("promised_for", "When the customer was promised it"),
    moment("placed_at", "When the customer placed it, by the platform's clock"),
    moment("updated_at", "The platform's instant of the latest version; if it has none near its receipt: the receipt"),
    flag("has_odd_time", "True: the platform reported a time that is not near its receipt; shelfsync does not use it"),
    moment("read_back_at", "When it was last read back from the platform; null: never"),
    written("first_seen_at", "When it was first received"),
    moment("ask_again_at", "After a failed request for its vendor: when to request it again; null: no such failure"),
    flag(
        "cancellation_due", "True: it is cancelled, and the hand-over of the cancellation may still have to be planned"
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
    identity("version_id", "Order in which they became known"),
    text("order_id", "The order", sa.ForeignKey("ledger.customer_order.order_id"), nullable=False),
    text("source", "event, answer (to a PUT), read_back (GET of the order) or history", nullable=False),
    text("digest", "Hash of the body", nullable=False),
    text("status", "The platform's status then", nullable=False),
    moment("updated_at", "The platform's instant of this version; null: it has none near its receipt"),
    text("body", "The order as JSON text, without personal data", nullable=False),
    number("event_id", "The event of the inbox that brought it"),
    written("seen_at", "When it was first received from this source"),
    sa.UniqueConstraint("order_id", "source", "digest"),
    sa.CheckConstraint("source IN ('event', 'answer', 'read_back', 'history')", name="source"),
    sa.Index("ix_order_version_event", "seen_at", postgresql_where=sa.text("source = 'event'")),
    schema="ledger",
    comment="One row a version of an order and its source",
)

hand_over = sa.Table(
    "hand_over",
    metadata,
    identity("hand_over_id", "The number by which the store knows a repeat"),
    text("order_id", "The order", sa.ForeignKey("ledger.customer_order.order_id"), nullable=False),
    text("kind", "new, cancelled, or reply: the outcome of a picking result", nullable=False),
    count("result_no", "Replies: the result; otherwise 0"),
    text(
        "state",
        "waiting, written (the store can see it), taken (the store has it) or dropped (no longer needed; perhaps never written)",
        nullable=False,
        server_default="waiting",
    ),
    tries("attempts", "How often writing was attempted"),
    moment("next_try_at", "When to try again"),
    written("created_at", "When it was planned"),
    moment("written_at", "When the store could first see it"),
    moment("taken_at", "When the store was known to have it"),
    line("error", "Why the last attempt failed, in one line"),
    tries("postponements", "How often it was postponed, also before the first attempt"),
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
    identity("result_no", "The number of the result, in order of arrival"),
    text("order_id", "The order; it may still be unknown", nullable=False),
    text("result_id", "The store's id of it; a repeat has the same id", nullable=False),
    text("source", "table, http or cli", nullable=False),
    text("vendor", "The store whose secret was sent with it over HTTP; null: it came from the table or a command"),
    text("digest", "Hash of its content, so that a result_id is not used twice", nullable=False),
    text("body", "The result as JSON text", nullable=False),
    text("action", "accept, check, fulfil or cancel", nullable=False),
    text(
        "state",
        "waiting, sending (the platform may have it), answered (the platform accepted it), done, checked, rejected, overtaken or quarantined (it could not be processed)",
        nullable=False,
        server_default="waiting",
    ),
    sa.Column("problems", JSONB, comment="Why it was rejected: a list of rule and message"),
    sa.Column("feedback", JSONB, comment="The answer to UPDATE_CART: items with their prices, and totals"),
    moment("base_updated_at", "The platform's instant of the order before the request was sent"),
    tries("attempts", "How often a request was sent"),
    tries("postponements", "How often it was postponed since its last progress"),
    moment("next_try_at", "When to go on with it; null: now"),
    line("error", "Why the last attempt failed, in one line"),
    written("received_at", "When it was stored"),
    moment("sent_at", "When a request was last sent"),
    moment("ended_at", "When its outcome was known"),
    flag("reply_due", "True: it has ended, and the reply to the store may still have to be planned"),
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
    text("vendor", "The store", primary_key=True),
    text("sku", "The SKU that a store replaces or adds", primary_key=True),
    boolean("known", "Whether the store's catalog has it, active or not", nullable=False),
    sa.Column("price", sa.Numeric(20, 3), comment="The catalog price"),
    boolean("by_weight", "Whether it is weighed; null: the platform does not report it"),
    text("name", "Its title"),
    written("asked_at", "When it was requested from the platform"),
    schema="ledger",
    comment="Recent catalog entries of SKUs that replace or are added; requested again after some minutes",
)

order_history = sa.Table(
    "order_history",
    metadata,
    text("vendor", "The store", primary_key=True),
    moment("covered_to", "The history is known for every order placed before this instant (the watermark)"),
    moment("window_start", "The window that is being read; null: none"),
    moment("window_end", "Its end"),
    sa.Column("next_page", sa.Integer, nullable=False, server_default="1", comment="The page to read next"),
    sa.Column("pages", sa.Integer, comment="Pages of the window, as the first page reports"),
    tries("tries", "How often the window was restarted"),
    text("page_digest", "Hash of the orders of the last page; a page with the same hash is rejected"),
    written("since", "When this store's history was first requested"),
    moment("read_at", "When a page was last read"),
    line("error", "Why the last reading failed, in one line"),
    schema="ledger",
    comment="How far each store's order history is known; moves in the transaction that stores a page",
)

order_day = sa.Table(
    "order_day",
    metadata,
    text("vendor", "The store", primary_key=True),
    sa.Column("day", sa.Date, primary_key=True, comment="The day in UTC on which orders were placed"),
    count("in_history", "Orders of the day in the platform's history"),
    count("in_inbox", "Those with an event"),
    count("repaired", "Those without an event, placed after the first event: the gaps"),
    written("counted_at", "When it was counted"),
    sa.Index("ix_order_day_day", "day"),
    schema="ledger",
    comment="The completeness of orders: one row a store and day that the history covers completely",
)

order_gap = sa.Table(
    "order_gap",
    metadata,
    text("order_id", "The order", sa.ForeignKey("ledger.customer_order.order_id"), primary_key=True),
    text("vendor", "The store", nullable=False),
    moment("placed_at", "When it was placed"),
    text("status", "Its status when it was found", nullable=False),
    written("found_at", "When the history returned it; that repaired the gap"),
    schema="ledger",
    comment="Orders that had no event when the history returned them",
)
