"""The inbox: webhook events as received."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.execute("CREATE SCHEMA IF NOT EXISTS inbox")
    op.create_table(
        "event",
        sa.Column("event_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Order of arrival"),
        sa.Column("kind", sa.Text(), nullable=False, comment="job, order or unknown: what the body turned out to be"),
        sa.Column(
            "identity",
            sa.Text(),
            nullable=False,
            comment="What makes it the same event when it comes again; a repeat is not stored twice",
        ),
        sa.Column(
            "platform_job_id",
            sa.Text(),
            nullable=True,
            comment="Jobs: the platform's number, as text whatever it was sent as",
        ),
        sa.Column("vendor", sa.Text(), nullable=True, comment="The vendor it names, if it names one"),
        sa.Column(
            "body",
            sa.LargeBinary(),
            nullable=False,
            comment="The bytes that came. Of an order they hold personal data; of a job perhaps a link that is a secret in itself",
        ),
        sa.Column(
            "received_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
            comment="When it was stored",
        ),
        sa.Column(
            "processed_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When its consequences were drawn; null: not yet, or again",
        ),
        sa.CheckConstraint("kind <> 'job' OR platform_job_id IS NOT NULL", name=op.f("ck_event_job_has_a_number")),
        sa.CheckConstraint("kind IN ('job', 'order', 'unknown')", name=op.f("ck_event_kind")),
        sa.PrimaryKeyConstraint("event_id", name=op.f("pk_event")),
        sa.UniqueConstraint("identity", name=op.f("uq_event_identity")),
        schema="inbox",
        comment="One row an event of the platform, committed before it was answered; it may come before, after or without its job",
    )
    op.create_index(
        "ix_event_platform_job_id",
        "event",
        ["platform_job_id", "event_id"],
        unique=False,
        schema="inbox",
        postgresql_where=sa.text("platform_job_id IS NOT NULL"),
    )
    op.create_index(
        "ix_event_unprocessed",
        "event",
        ["kind", "event_id"],
        unique=False,
        schema="inbox",
        postgresql_where=sa.text("processed_at IS NULL"),
    )


def downgrade() -> None:
    op.drop_index(
        "ix_event_unprocessed", table_name="event", schema="inbox", postgresql_where=sa.text("processed_at IS NULL")
    )
    op.drop_index(
        "ix_event_platform_job_id",
        table_name="event",
        schema="inbox",
        postgresql_where=sa.text("platform_job_id IS NOT NULL"),
    )
    op.drop_table("event", schema="inbox")
    op.execute("DROP SCHEMA inbox")
