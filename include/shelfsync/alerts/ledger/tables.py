"""Tables of alerts: what is or was wrong, what was sent about it, and what persons have muted."""

from __future__ import annotations

import sqlalchemy as sa

from shelfsync.store.metadata import boolean, identity, line, metadata, moment, number, text, tries, written

alert = sa.Table(
    "alert",
    metadata,
    identity("alert_id", "Number of the alert"),
    text("kind", "What is wrong: store_late, hold_waits, not_taken, …", nullable=False),
    text("subject", "What it is about: a store, a rule, a service; empty: the chain", nullable=False),
    line("message", "One sentence with the newest evidence", nullable=False),
    number(
        "revision",
        "The newest thing it is about, where a newer one is reported again",
        nullable=False,
        server_default="0",
    ),
    written("opened_at", "When it was first found"),
    written("seen_at", "When it was last found"),
    moment("closed_at", "When it was over; null: it is open"),
    text("acknowledged_by", "The person who has taken it on"),
    moment("acknowledged_at", "When"),
    sa.Index("uq_alert_open", "kind", "subject", unique=True, postgresql_where=sa.text("closed_at IS NULL")),
    sa.Index("ix_alert_closed_at", "closed_at"),
    schema="ledger",
    comment="One row a condition, from its first sight to its end, however many runs meet it",
)

alert_message = sa.Table(
    "alert_message",
    metadata,
    identity("message_id", "Number of the message"),
    number("alert_id", "The alert", sa.ForeignKey(alert.c.alert_id, ondelete="CASCADE"), nullable=False),
    text("act", "opened or closed", nullable=False),
    number("revision", "The revision of the alert that it reports", nullable=False),
    text("route", "The route that it takes", nullable=False),
    moment("due_at", "When it is sent at the earliest", nullable=False),
    tries("tries", "How often the route refused it"),
    line("error", "What the route answered last"),
    text("key", "The key of what it was sent in; of a pager it is the key of the incident"),
    moment("sending_at", "When it was handed to the route; the end of that is sent_at, or null again"),
    moment("sent_at", "When the route took it"),
    moment("dropped_at", "When it was not needed any more"),
    sa.UniqueConstraint("alert_id", "act", "revision", "route"),
    sa.Index("ix_alert_message_due", "due_at", postgresql_where=sa.text("sent_at IS NULL AND dropped_at IS NULL")),
    schema="ledger",
    comment="The outbox of alerts: one row a message and route; it stays until the route has taken it",
)

alert_sending = sa.Table(
    "alert_sending",
    metadata,
    text("route", "The route", primary_key=True),
    text("key", "The key that travels with the message, where the route takes one", nullable=False),
    text("urgency", "failure, warning or success: how the route shows it", nullable=False),
    line("title", "Its title", nullable=False),
    line("body", "Its text", nullable=False),
    schema="ledger",
    comment="What is being handed to a route just now. If no process is at it, the sender died, and the route may have taken it",
)

alert_mute = sa.Table(
    "alert_mute",
    metadata,
    identity("mute_id", "Number of the mute"),
    text("kind", "The kind that is muted", nullable=False),
    text("subject", "The subject; null: every one"),
    moment("until_at", "When it ends", nullable=False),
    line("why", "The person's reason", nullable=False),
    text("who", "The person", nullable=False),
    written("muted_at", "When"),
    schema="ledger",
    comment="Alerts of which no message is sent for a time; they are listed all the same",
)

alert_look = sa.Table(
    "alert_look",
    metadata,
    boolean("only", "True: there is one row alone", primary_key=True),
    written("looked_at", "When the watch looked last"),
    schema="ledger",
    comment="When the watch looked last at what is wrong: an empty list means nothing if no watch runs",
)

WAITS = sa.and_(alert_message.c.sent_at.is_(None), alert_message.c.dropped_at.is_(None))
"""A message that no route has taken yet, and that is still to be sent."""
FREE = sa.and_(WAITS, alert_message.c.sending_at.is_(None))
"""Such a message of which no sending has begun."""
