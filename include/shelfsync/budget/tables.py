"""The shared request allowance: one row of state a key, who waits, what was given, how it was used."""

from __future__ import annotations

import sqlalchemy as sa

from shelfsync.ledger.metadata import metadata

_SCHEMA = "budget"


def _key() -> sa.Column[str]:
    return sa.Column("key", sa.Text, primary_key=True, comment="What the platform counts by, as configured")


def _time(name: str, comment: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable, comment=comment)


def _count(name: str, comment: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False, server_default="0", comment=comment)


def _words() -> tuple[sa.Column[str], sa.Column[str]]:
    return (
        sa.Column("lane", sa.Text, nullable=False, comment="How urgent: order, stop_sell, price, catalog, ..."),
        sa.Column("operation", sa.Text, nullable=False, comment="Which call of the interface"),
    )


allowance = sa.Table(
    "allowance",
    metadata,
    _key(),
    _time("free_at", "The first instant nobody holds a slot at; null: none was ever given", nullable=True),
    _time("paused_until", "Nothing leaves before; null or past: no pause", nullable=True),
    sa.Column("pause_reason", sa.Text, comment="Why it was paused last, in one line"),
    sa.Column(
        "strikes",
        sa.Integer,
        nullable=False,
        server_default="0",
        comment="Stops in a row without a good answer between them; each makes the next pause longer",
    ),
    _time(
        "clock_set_at", "When this clock was last found to have been set, by the clock as it is since", nullable=True
    ),
    schema=_SCHEMA,
    comment="One row a key: the lock and the state of its allowance; all times are this database's clock",
)

lane = sa.Table(
    "lane",
    metadata,
    _key(),
    sa.Column("lane", sa.Text, primary_key=True, comment="The lane"),
    _time("due_at", "When its floor is due again, if work waits in it"),
    _time("slot_at", "Its last slot"),
    schema=_SCHEMA,
    comment="When each lane was served, so that none starves",
)

ticket = sa.Table(
    "ticket",
    metadata,
    sa.Column("ticket_id", sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Order of asking"),
    sa.Column("key", sa.Text, nullable=False, index=True, comment="Which allowance"),
    *_words(),
    _time("asked_at", "When it began to wait"),
    _time("back_at", "When its holder will look again; a holder that is overdue is passed over until it does"),
    schema=_SCHEMA,
    comment="Requests that wait for a slot; one whose holder died is removed by the others",
)

permit = sa.Table(
    "permit",
    metadata,
    sa.Column("permit_id", sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Order of giving"),
    sa.Column("key", sa.Text, nullable=False, comment="Which allowance"),
    *_words(),
    _time("asked_at", "When it began to wait"),
    _time("slot_at", "Its slot: it may not arrive before"),
    _time("arrived_by", "It had arrived by then: its answer came, or its sender went on", nullable=True),
    sa.Index("ix_permit_key_slot_at", "key", sa.text("slot_at DESC")),
    schema=_SCHEMA,
    comment="Slots given in the last day; what the limit is proven by",
)

usage = sa.Table(
    "usage",
    metadata,
    _key(),
    sa.Column("hour_at", sa.DateTime(timezone=True), primary_key=True, comment="Start of the hour, UTC"),
    sa.Column("lane", sa.Text, primary_key=True, comment="The lane; empty for answers, which do not tell theirs"),
    sa.Column("operation", sa.Text, primary_key=True, comment="Which call of the interface"),
    _count("permits", "Slots given"),
    _count("forfeited", "Slots not used because their holder woke up too late"),
    _count("answers", "Answers that came"),
    _count("stops", "Answers that paused the installation: 429, a block of the edge, Retry-After"),
    _count("failures", "Answers with a 5xx"),
    sa.Column(
        "waited_s", sa.Double, nullable=False, server_default="0", comment="Time waited for slots, summed, seconds"
    ),
    sa.Column("waited_s_max", sa.Double, nullable=False, server_default="0", comment="The longest wait, seconds"),
    schema=_SCHEMA,
    comment="Use of the allowance by hour, lane and call; kept for the warehouse",
)

pause = sa.Table(
    "pause",
    metadata,
    sa.Column("pause_id", sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Number of the pause"),
    sa.Column("key", sa.Text, nullable=False, comment="Which allowance"),
    _time("began_at", "When the answer came that caused it"),
    _time("until_at", "When it ends"),
    sa.Column("strikes", sa.Integer, nullable=False, comment="How many stops in a row it was"),
    sa.Column("reason", sa.Text, nullable=False, comment="Why, in one line"),
    sa.Index("ix_pause_key_began_at", "key", sa.text("began_at DESC")),
    schema=_SCHEMA,
    comment="Every pause of the whole installation, for people who ask why nothing moved",
)
