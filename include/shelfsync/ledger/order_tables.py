"""What the ledger knows of orders: what was told of each, what was handed over, what was picked, and how far the history is known.

Nothing here tells of a person: bodies are parted before they are kept, and the personal part lies sealed in the warehouse.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from shelfsync.ledger.metadata import metadata

_now = sa.text("ledger.instant()")


def _id(name: str, comment: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, sa.Identity(always=True), primary_key=True, comment=comment)


def _text(name: str, comment: str, *, nullable: bool = True) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=nullable, comment=comment)


def _time(name: str, comment: str, *, nullable: bool = True) -> sa.Column[object]:
    default = None if nullable else _now
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable, server_default=default, comment=comment)


def _count(name: str, comment: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False, server_default="0", comment=comment)


customer_order = sa.Table(
    "customer_order",
    metadata,
    sa.Column("order_id", sa.Text, primary_key=True, comment="The platform's identifier of the order"),
    _text("vendor", "The store it is for, as this partner calls it; null until anybody said so"),
    _text("status", "What it is now, in the platform's words", nullable=False),
    _text("transport_type", "LOGISTICS_DELIVERY or VENDOR_DELIVERY"),
    _text("order_type", "DELIVERY or PICKUP"),
    _text("order_code", "The short code that riders and stores read to each other"),
    _time("promised_for", "When the customer was promised it"),
    _time("placed_at", "When the customer placed it, by the platform's clock"),
    _time("updated_at", "The platform's instant of the version that rules"),
    _time("read_back_at", "When the platform was last asked for it; null: never"),
    _time("first_seen_at", "When we first heard of it", nullable=False),
    _time(
        "ask_again_at",
        "When the platform, asked whose it is in vain, may be asked again; null: it was not asked in vain",
    ),
    sa.Column(
        "cancellation_due",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="True: it is cancelled, and telling the store is not planned yet, or it is not known yet whether one has to be told",
    ),
    sa.Index("ix_customer_order_status", "status", "vendor"),
    sa.Index("ix_customer_order_vendor_placed_at", "vendor", "placed_at"),
    sa.Index(
        "ix_customer_order_cancellation_due",
        "order_id",
        postgresql_where=sa.text("cancellation_due"),
    ),
    schema="ledger",
    comment="One row an order; locked while it moves. What it is follows from its versions alone",
)

order_version = sa.Table(
    "order_version",
    metadata,
    _id("version_id", "Order in which they became known"),
    sa.Column(
        "order_id",
        sa.Text,
        sa.ForeignKey("ledger.customer_order.order_id"),
        nullable=False,
        comment="The order",
    ),
    _text("source", "event, answer (to a PUT), read_back (GET of the order) or history", nullable=False),
    _text("digest", "Hash of the body", nullable=False),
    _text("status", "The platform's word for it then", nullable=False),
    _time("updated_at", "The platform's instant of this version"),
    _text("body", "What was told, as JSON text, without anything personal", nullable=False),
    sa.Column("event_id", sa.BigInteger, comment="The event of the inbox that told it"),
    _time("seen_at", "When we first heard of it from this source", nullable=False),
    sa.UniqueConstraint("order_id", "source", "digest"),
    sa.CheckConstraint("source IN ('event', 'answer', 'read_back', 'history')", name="source"),
    sa.Index("ix_order_version_event", "seen_at", postgresql_where=sa.text("source = 'event'")),
    schema="ledger",
    comment="One row a version of an order and a source that told it; never changed",
)

hand_over = sa.Table(
    "hand_over",
    metadata,
    _id("hand_over_id", "The number by which the store knows a repeat"),
    sa.Column(
        "order_id", sa.Text, sa.ForeignKey("ledger.customer_order.order_id"), nullable=False, comment="The order"
    ),
    _text("kind", "new, cancelled, or reply: what became of a picking result", nullable=False),
    sa.Column(
        "result_no", sa.BigInteger, nullable=False, server_default="0", comment="Replies: the result; otherwise 0"
    ),
    sa.Column(
        "state",
        sa.Text,
        nullable=False,
        server_default="waiting",
        comment="waiting, written (the store can see it), taken (the store has it) or dropped (overtaken, never written for sure)",
    ),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0", comment="How often it was written or tried"),
    _time("next_try_at", "When to try again"),
    _time("created_at", "When it was planned", nullable=False),
    _time("written_at", "When the store could first see it"),
    _time("taken_at", "When the store was known to have it"),
    _text("error", "Why the last try failed, in one line"),
    sa.Column(
        "looks",
        sa.Integer,
        nullable=False,
        server_default="0",
        comment="How often it was postponed, also before anything was written",
    ),
    sa.UniqueConstraint("order_id", "kind", "result_no"),
    sa.CheckConstraint("kind IN ('new', 'cancelled', 'reply')", name="kind"),
    sa.CheckConstraint("state IN ('waiting', 'written', 'taken', 'dropped')", name="state"),
    sa.Index("ix_hand_over_open", "hand_over_id", postgresql_where=sa.text("state IN ('waiting', 'written')")),
    sa.Index("ix_hand_over_dropped", "order_id", postgresql_where=sa.text("state = 'dropped'")),
    schema="ledger",
    comment="One row a thing that a store has to be told: at least once, with a number that makes a repeat known",
)

picking_result = sa.Table(
    "picking_result",
    metadata,
    _id("result_no", "Our number of the result, in order of arrival"),
    _text("order_id", "The order it is about; nobody may know it yet", nullable=False),
    _text("result_id", "The store's name for it; the same name again is the same result", nullable=False),
    _text("source", "table, http or cli", nullable=False),
    _text("vendor", "The store whose secret brought it over HTTP; null: it came from the table or a command"),
    _text("digest", "Hash of its content, so that a name is not used twice", nullable=False),
    _text("body", "What the store said, as JSON text", nullable=False),
    _text("action", "accept, check, fulfil or cancel", nullable=False),
    sa.Column(
        "state",
        sa.Text,
        nullable=False,
        server_default="waiting",
        comment="waiting, sending (may be with the platform), answered (the platform said yes), done, checked, refused, overtaken or set_aside (it could not be worked on)",
    ),
    sa.Column("problems", JSONB, comment="Why it was refused: a list of rule and message"),
    sa.Column("feedback", JSONB, comment="What UPDATE_CART answered: items with their prices, and totals"),
    _time("base_updated_at", "The platform's instant of the order before the request left"),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0", comment="How often a request left"),
    sa.Column("looks", sa.Integer, nullable=False, server_default="0", comment="How often it was worked on in vain"),
    _time("next_try_at", "When to go on with it; null: now"),
    _text("error", "What stood in the way last, in one line"),
    _time("received_at", "When it was stored", nullable=False),
    _time("sent_at", "When a request last left"),
    _time("settled_at", "When its end was known"),
    sa.Column(
        "reply_due",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="True: it has ended, and telling the store is not planned yet",
    ),
    sa.UniqueConstraint("order_id", "result_id"),
    sa.CheckConstraint(
        "state IN ('waiting', 'sending', 'answered', 'done', 'checked', 'refused', 'overtaken', 'set_aside')",
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
    sa.Index("ix_picking_result_set_aside", "result_no", postgresql_where=sa.text("state = 'set_aside'")),
    schema="ledger",
    comment="One row a result of a store, durable before the store is told so; what became of it",
)

order_product = sa.Table(
    "order_product",
    metadata,
    sa.Column("vendor", sa.Text, primary_key=True, comment="The store"),
    sa.Column("sku", sa.Text, primary_key=True, comment="The SKU that somebody wanted to put into an order"),
    sa.Column("known", sa.Boolean, nullable=False, comment="Whether the store's catalog has it, active or not"),
    sa.Column("price", sa.Numeric(20, 3), comment="The catalog price"),
    sa.Column("by_weight", sa.Boolean, comment="Whether it is weighed; null: the platform does not say"),
    _text("name", "Its title"),
    _time("asked_at", "When the platform was asked", nullable=False),
    schema="ledger",
    comment="What the platform's listing lately said of SKUs that replace or are added; asked again after some minutes",
)

order_history = sa.Table(
    "order_history",
    metadata,
    sa.Column("vendor", sa.Text, primary_key=True, comment="The store"),
    _time("covered_to", "The history is known for every order placed before this instant (the watermark)"),
    _time("window_start", "The window that is being read; null: none"),
    _time("window_end", "Its end"),
    sa.Column("next_page", sa.Integer, nullable=False, server_default="1", comment="The page to read next"),
    sa.Column("pages", sa.Integer, comment="Pages of the window, as the first of them said"),
    sa.Column("tries", sa.Integer, nullable=False, server_default="0", comment="How often the window was begun again"),
    _text("page_digest", "Hash of the orders of the page before the next; a page that repeats it is not to be trusted"),
    _time("since", "When this store's history was first asked for", nullable=False),
    _time("read_at", "When a page was last read"),
    _text("error", "Why the last reading broke off, in one line"),
    schema="ledger",
    comment="How far each store's order history is known; moves in the transaction that lands a page",
)

order_day = sa.Table(
    "order_day",
    metadata,
    sa.Column("vendor", sa.Text, primary_key=True, comment="The store"),
    sa.Column("day", sa.Date, primary_key=True, comment="The day in UTC on which orders were placed"),
    _count("in_history", "Orders of the day in the platform's history"),
    _count("in_inbox", "Those of them of which an event came"),
    _count("repaired", "Those of which no event has come though there were events by then: the gaps"),
    _time("counted_at", "When it was counted", nullable=False),
    sa.Index("ix_order_day_day", "day"),
    schema="ledger",
    comment="The completeness of orders: one row a store and day that the history covers whole",
)

order_gap = sa.Table(
    "order_gap",
    metadata,
    sa.Column(
        "order_id", sa.Text, sa.ForeignKey("ledger.customer_order.order_id"), primary_key=True, comment="The order"
    ),
    _text("vendor", "The store", nullable=False),
    _time("placed_at", "When it was placed"),
    _text("status", "What it was when it was found", nullable=False),
    _time("found_at", "When the history told of it; that repaired it", nullable=False),
    schema="ledger",
    comment="Orders of which no event had come when the history told of them",
)

order_alarm = sa.Table(
    "order_alarm",
    metadata,
    sa.Column(
        "kind",
        sa.Text,
        primary_key=True,
        comment="not_taken, missed, overdue, not_sent, unreadable, set_aside or history",
    ),
    sa.Column("subject", sa.Text, primary_key=True, comment="The store, or the result, it is about"),
    _text("message", "The line that was told", nullable=False),
    _time("raised_at", "When it was told, once", nullable=False),
    _time("ended_at", "When it was over; null: it lasts"),
    schema="ledger",
    comment="Stalls of the orders' way: each is told once, and once more only after it was over",
)
