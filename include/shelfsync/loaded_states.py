"""The table of the states that were loaded."""

from __future__ import annotations

import sqlalchemy as sa

from shelfsync.store.metadata import metadata, moment, text, written

loaded_state = sa.Table(
    "loaded_state",
    metadata,
    text("state_id", "The number that the file was given when it was saved", primary_key=True),
    moment("saved_at", "When it was saved", nullable=False),
    text("revision", "The revision of the database that it comes from"),
    text("who", "The person who loaded it", nullable=False),
    written("loaded_at", "When it was loaded"),
    schema="ledger",
    comment="One row a saved state that began this database: the same file does nothing a second time",
)
