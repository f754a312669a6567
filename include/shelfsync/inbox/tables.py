"""Webhook events as they were received."""

from __future__ import annotations

import sqlalchemy as sa

from shelfsync.store.metadata import identity, metadata, moment, text

event = sa.Table(
    "event",
    metadata,
    identity("event_id", "Order of arrival"),
    text("kind", "job, order or unknown: what the body turned out to be", nullable=False),
    text("identity", "Equal for repeats of the same event; a repeat is not stored twice", nullable=False, unique=True),
    text("platform_job_id", "Jobs: the platform's job id as text; the event may have a number"),
    text("vendor", "The vendor it names, if it names one"),
    sa.Column(
        "body",
        sa.LargeBinary,
        nullable=False,
        comment="The body as received. An order holds personal data; a job may hold a link that is itself a secret",
    ),
    moment("received_at", "When it was stored", nullable=False, server_default=sa.text("clock_timestamp()")),
    moment("processed_at", "When it was processed or quarantined; null: not yet, or to be processed again"),
    text(
        "quarantine_reason",
        "Why it could not be processed; its body stays complete until it is replayed; null: it is not quarantined",
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
