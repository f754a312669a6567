"""The shared request allowance: one row of state per key, the waiting requests, the slots, and their use."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from shelfsync.store.metadata import count, identity, line, metadata, moment, text

_SCHEMA = "rate_limit"


def _key() -> sa.Column[str]:
    return text("key", "What the platform counts by, as configured", primary_key=True)


def _chain(**options: Any) -> sa.Column[str]:
    return text("chain", "The chain that asked; empty: it has no name", nullable=False, server_default="", **options)


def _words() -> tuple[sa.Column[str], sa.Column[str]]:
    return (
        text("priority", "How urgent: order, stop_sell, price, catalog, ...", nullable=False),
        text("operation", "Which call of the interface", nullable=False),
    )


allowance = sa.Table(
    "allowance",
    metadata,
    _key(),
    moment("free_at", "The first instant at which no caller holds a slot; null: none was ever given"),
    moment("paused_until", "Nothing leaves before; null or past: no pause"),
    text("pause_reason", "Why it was paused last, in one line"),
    sa.Column(
        "strikes",
        sa.Integer,
        nullable=False,
        server_default="0",
        comment="Stops in a row without a good answer between them; each makes the next pause longer",
    ),
    moment("clock_set_at", "When this clock was last found to have been set, by the clock as it is since"),
    schema=_SCHEMA,
    comment="One row a key: the lock and the state of its allowance; all times are this database's clock",
)

priority = sa.Table(
    "priority",
    metadata,
    _key(),
    text("priority", "The priority", primary_key=True),
    moment("due_at", "When its floor is due again, if work waits in it", nullable=False),
    moment("slot_at", "Its last slot", nullable=False),
    schema=_SCHEMA,
    comment="When each priority was served, so that none starves",
)

turn = sa.Table(
    "turn",
    metadata,
    _key(),
    text("priority", "The priority", primary_key=True),
    _chain(primary_key=True),
    moment("slot_at", "Its last slot", nullable=False),
    schema=_SCHEMA,
    comment="When each chain was served in each priority, so that chains with work of one priority take turns",
)

ticket = sa.Table(
    "ticket",
    metadata,
    identity("ticket_id", "Order of asking"),
    text("key", "Which allowance", nullable=False, index=True),
    _chain(),
    *_words(),
    moment("asked_at", "When it began to wait", nullable=False),
    moment(
        "back_at",
        "When its holder will look again; a holder that is overdue is passed over until it does",
        nullable=False,
    ),
    schema=_SCHEMA,
    comment="Requests that wait for a slot; one whose holder died is removed by the others",
)

permit = sa.Table(
    "permit",
    metadata,
    identity("permit_id", "Order of giving"),
    text("key", "Which allowance", nullable=False),
    _chain(),
    *_words(),
    moment("asked_at", "When it began to wait", nullable=False),
    moment("slot_at", "Its slot: it may not arrive before", nullable=False),
    moment("arrived_by", "It had arrived by then: its answer came, or its sender went on"),
    sa.Index("ix_permit_key_slot_at", "key", sa.text("slot_at DESC")),
    schema=_SCHEMA,
    comment="Slots given in the last day; what the limit is proven by",
)

usage = sa.Table(
    "usage",
    metadata,
    _key(),
    moment("hour_at", "Start of the hour, UTC", primary_key=True),
    _chain(primary_key=True),
    text("priority", "The priority; empty for answers, which do not have one", primary_key=True),
    text("operation", "Which call of the interface", primary_key=True),
    count("permits", "Slots given"),
    count("forfeited", "Slots not used because their holder woke up too late"),
    count("answers", "Answers that came"),
    count("stops", "Answers that paused the installation: 429, a block of the edge, Retry-After"),
    count("failures", "Answers with a 5xx"),
    sa.Column(
        "waited_s", sa.Double, nullable=False, server_default="0", comment="Time waited for slots, summed, seconds"
    ),
    sa.Column("waited_s_max", sa.Double, nullable=False, server_default="0", comment="The longest wait, seconds"),
    schema=_SCHEMA,
    comment="Use of the allowance by hour, priority and call; kept for the warehouse",
)

pause = sa.Table(
    "pause",
    metadata,
    identity("pause_id", "Number of the pause"),
    text("key", "Which allowance", nullable=False),
    moment("began_at", "When the answer came that caused it", nullable=False),
    moment("until_at", "When it ends", nullable=False),
    sa.Column("strikes", sa.Integer, nullable=False, comment="How many stops in a row it was"),
    line("reason", "Why, in one line", nullable=False),
    sa.Index("ix_pause_key_began_at", "key", sa.text("began_at DESC")),
    schema=_SCHEMA,
    comment="Every pause of the whole installation, for people who ask why nothing moved",
)
