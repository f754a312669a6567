"""Webhook events as they were received."""

from __future__ import annotations

import sqlalchemy as sa

from shelfsync.store.metadata import metadata

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
        comment="Equal for repeats of the same event; a repeat is not stored twice",
    ),
    sa.Column("platform_job_id", sa.Text, comment="Jobs: the platform's job id as text; the event may have a number"),
    sa.Column("vendor", sa.Text, comment="The vendor it names, if it names one"),
    sa.Column(
        "body",
        sa.LargeBinary,
        nullable=False,
        comment="The body as received. An order holds personal data; a job may hold a link that is itself a secret",
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
        comment="When it was processed or quarantined; null: not yet, or to be processed again",
    ),
    sa.Column(
        "quarantine_reason",
        sa.Text,
        comment="Why it could not be processed; its body stays complete until it is replayed; null: it is not quarantined",
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
    sa.Index("ix_event_quarantined", "kind", "event_id", postgresql_where=sa.text("quarantine_reason IS NOT NULL")),
    schema="inbox",
    comment="One row an event of the platform, committed before the receiver answers; it may arrive before, after or without its job",
)
