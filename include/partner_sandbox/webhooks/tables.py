"""Where events go, and what became of each attempt."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, Table, Text

from partner_sandbox.storage import metadata

webhook = Table(
    "webhook",
    metadata,
    Column("chain", Text, ForeignKey("chain.chain"), primary_key=True),
    Column("catalog_url", Text),
    Column("order_url", Text),
    Column("secret", Text, comment="verbatim in the Authorization header; mandatory, nothing is sent without it"),
)

delivery = Table(
    "delivery",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("chain", Text, nullable=False),
    Column("operation", Text, nullable=False, comment="job_webhook or order_webhook"),
    Column("subject", Text, nullable=False, comment="the job's or the order's id"),
    Column("event", Text, nullable=False, comment="the status it tells of"),
    Column("url", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("authorization", Text, comment="instead of the configured secret, for a forged one"),
    Column("once", Boolean, nullable=False, default=False, comment="no further tries"),
    Column("after_next", Boolean, nullable=False, default=False, comment="held back until a later one has gone"),
    Column("fault", Text, comment="the fault that made it so"),
    Column("state", Text, nullable=False, comment="pending, delivered, given_up, lost"),
    Column("created_us", Integer, nullable=False),
    Column("due_us", Integer, comment="when the next attempt falls due"),
    Column("attempts", Integer, nullable=False, default=0),
    Index("delivery_by_due", "due_us"),
    sqlite_autoincrement=True,
)

attempt = Table(
    "attempt",
    metadata,
    Column("delivery_id", Integer, ForeignKey("delivery.id"), primary_key=True),
    Column("number", Integer, primary_key=True, comment="from 1"),
    Column("at_us", Integer, nullable=False),
    Column("status", Integer, comment="null when no answer came"),
    Column("problem", Text, comment="why no answer came"),
)
