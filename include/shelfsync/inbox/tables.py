"""Webhook events as they were received."""

from __future__ import annotations

import sqlalchemy as sa

from shelfsync.ledger.metadata import metadata

event = sa.Table(
    "event",
    metadata,
    sa.Column("event_id", sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Order of arrival"),
    sa.Column("kind", sa.Text, nullable=False, comment="job, order or unknown: what the body turned out to be"),
    sa.Column(
        "identity",
        sa.Text,
        nullable=False,
        unique=True,
        comment="What makes it the same event when it comes again; a repeat is not stored twice",
    ),
    sa.Column("platform_job_id", sa.Text, comment="Jobs: the platform's number, as text whatever it was sent as"),
    sa.Column("vendor", sa.Text, comment="The vendor it names, if it names one"),
    sa.Column(
        "body",
        sa.LargeBinary,
        nullable=False,
        comment="The bytes that came. Of an order they hold personal data; of a job perhaps a link that is a secret in itself",
    ),
    sa.Column(
        "received_at",
        sa.DateTime(timezone=True),
        nullable=False,
        server_default=sa.text("clock_timestamp()"),
        comment="When it was stored",
    ),
    sa.Column(
        "processed_at",
        sa.DateTime(timezone=True),
        comment="When its consequences were drawn, or it was set aside; null: not yet, or again",
    ),
    sa.Column(
        "set_aside",
        sa.Text,
        comment="Why it could not be processed; its body stays whole until it is replayed; null: it could",
    ),
    sa.CheckConstraint("kind IN ('job', 'order', 'unknown')", name="kind"),
    sa.CheckConstraint("kind <> 'job' OR platform_job_id IS NOT NULL", name="job_has_a_number"),
    sa.Index(
        "ix_event_platform_job_id",
        "platform_job_id",
        "event_id",
        postgresql_where=sa.text("platform_job_id IS NOT NULL"),
    ),
    sa.Index("ix_event_unprocessed", "kind", "event_id", postgresql_where=sa.text("processed_at IS NULL")),
    sa.Index("ix_event_set_aside", "kind", "event_id", postgresql_where=sa.text("set_aside IS NOT NULL")),
    schema="inbox",
    comment="One row an event of the platform, committed before it was answered; it may come before, after or without its job",
)
