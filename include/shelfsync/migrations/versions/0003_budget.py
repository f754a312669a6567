"""The request budget: allowance, lanes, tickets, permits, usage, pauses."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.execute("CREATE SCHEMA IF NOT EXISTS budget")
    op.create_table(
        "allowance",
        sa.Column("key", sa.Text(), nullable=False, comment="What the platform counts by, as configured"),
        sa.Column(
            "free_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="The first instant nobody holds a slot at; null: none was ever given",
        ),
        sa.Column(
            "paused_until",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="Nothing leaves before; null or past: no pause",
        ),
        sa.Column("pause_reason", sa.Text(), nullable=True, comment="Why it was paused last, in one line"),
        sa.Column(
            "strikes",
            sa.Integer(),
            server_default="0",
            nullable=False,
            comment="Stops in a row without a good answer between them; each makes the next pause longer",
        ),
        sa.Column(
            "clock_set_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When this clock was last found to have been set, by the clock as it is since",
        ),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_allowance")),
        schema="budget",
        comment="One row a key: the lock and the state of its allowance; all times are this database's clock",
    )
    op.create_table(
        "lane",
        sa.Column("key", sa.Text(), nullable=False, comment="What the platform counts by, as configured"),
        sa.Column("lane", sa.Text(), nullable=False, comment="The lane"),
        sa.Column(
            "due_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When its floor is due again, if work waits in it",
        ),
        sa.Column("slot_at", sa.DateTime(timezone=True), nullable=False, comment="Its last slot"),
        sa.PrimaryKeyConstraint("key", "lane", name=op.f("pk_lane")),
        schema="budget",
        comment="When each lane was served, so that none starves",
    )
    op.create_table(
        "pause",
        sa.Column("pause_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Number of the pause"),
        sa.Column("key", sa.Text(), nullable=False, comment="Which allowance"),
        sa.Column(
            "began_at", sa.DateTime(timezone=True), nullable=False, comment="When the answer came that caused it"
        ),
        sa.Column("until_at", sa.DateTime(timezone=True), nullable=False, comment="When it ends"),
        sa.Column("strikes", sa.Integer(), nullable=False, comment="How many stops in a row it was"),
        sa.Column("reason", sa.Text(), nullable=False, comment="Why, in one line"),
        sa.PrimaryKeyConstraint("pause_id", name=op.f("pk_pause")),
        schema="budget",
        comment="Every pause of the whole installation, for people who ask why nothing moved",
    )
    op.create_index(
        "ix_pause_key_began_at", "pause", ["key", sa.literal_column("began_at DESC")], unique=False, schema="budget"
    )
    op.create_table(
        "permit",
        sa.Column("permit_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Order of giving"),
        sa.Column("key", sa.Text(), nullable=False, comment="Which allowance"),
        sa.Column("lane", sa.Text(), nullable=False, comment="How urgent: order, stop_sell, price, catalog, ..."),
        sa.Column("operation", sa.Text(), nullable=False, comment="Which call of the interface"),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False, comment="When it began to wait"),
        sa.Column("slot_at", sa.DateTime(timezone=True), nullable=False, comment="Its slot: it may not arrive before"),
        sa.Column(
            "arrived_by",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="It had arrived by then: its answer came, or its sender went on",
        ),
        sa.PrimaryKeyConstraint("permit_id", name=op.f("pk_permit")),
        schema="budget",
        comment="Slots given in the last day; what the limit is proven by",
    )
    op.create_index(
        "ix_permit_key_slot_at", "permit", ["key", sa.literal_column("slot_at DESC")], unique=False, schema="budget"
    )
    op.create_table(
        "ticket",
        sa.Column("ticket_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Order of asking"),
        sa.Column("key", sa.Text(), nullable=False, comment="Which allowance"),
        sa.Column("lane", sa.Text(), nullable=False, comment="How urgent: order, stop_sell, price, catalog, ..."),
        sa.Column("operation", sa.Text(), nullable=False, comment="Which call of the interface"),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False, comment="When it began to wait"),
        sa.Column(
            "back_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When its holder will look again; a holder that is overdue is passed over until it does",
        ),
        sa.PrimaryKeyConstraint("ticket_id", name=op.f("pk_ticket")),
        schema="budget",
        comment="Requests that wait for a slot; one whose holder died is removed by the others",
    )
    op.create_index(op.f("ix_ticket_key"), "ticket", ["key"], unique=False, schema="budget")
    op.create_table(
        "usage",
        sa.Column("key", sa.Text(), nullable=False, comment="What the platform counts by, as configured"),
        sa.Column("hour_at", sa.DateTime(timezone=True), nullable=False, comment="Start of the hour, UTC"),
        sa.Column("lane", sa.Text(), nullable=False, comment="The lane; empty for answers, which do not tell theirs"),
        sa.Column("operation", sa.Text(), nullable=False, comment="Which call of the interface"),
        sa.Column("permits", sa.BigInteger(), server_default="0", nullable=False, comment="Slots given"),
        sa.Column(
            "forfeited",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Slots not used because their holder woke up too late",
        ),
        sa.Column("answers", sa.BigInteger(), server_default="0", nullable=False, comment="Answers that came"),
        sa.Column(
            "stops",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Answers that paused the installation: 429, a block of the edge, Retry-After",
        ),
        sa.Column("failures", sa.BigInteger(), server_default="0", nullable=False, comment="Answers with a 5xx"),
        sa.Column(
            "waited_s",
            sa.Double(),
            server_default="0",
            nullable=False,
            comment="Time waited for slots, summed, seconds",
        ),
        sa.Column("waited_s_max", sa.Double(), server_default="0", nullable=False, comment="The longest wait, seconds"),
        sa.PrimaryKeyConstraint("key", "hour_at", "lane", "operation", name=op.f("pk_usage")),
        schema="budget",
        comment="Use of the allowance by hour, lane and call; kept for the warehouse",
    )


def downgrade() -> None:
    op.drop_table("usage", schema="budget")
    op.drop_index(op.f("ix_ticket_key"), table_name="ticket", schema="budget")
    op.drop_table("ticket", schema="budget")
    op.drop_index("ix_permit_key_slot_at", table_name="permit", schema="budget")
    op.drop_table("permit", schema="budget")
    op.drop_index("ix_pause_key_began_at", table_name="pause", schema="budget")
    op.drop_table("pause", schema="budget")
    op.drop_table("lane", schema="budget")
    op.drop_table("allowance", schema="budget")
    op.execute("DROP SCHEMA budget")
