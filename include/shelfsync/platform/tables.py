"""What shelfsync stores about the platform: the access token that all workers share, and which settings it accepted."""

from __future__ import annotations

import sqlalchemy as sa

from shelfsync.store.metadata import metadata, moment, text, written

platform_check = sa.Table(
    "platform_check",
    metadata,
    text("fingerprint", "Derived slowly (scrypt) from address, chain and credentials", primary_key=True),
    written("checked_at", "When the platform last accepted them"),
    schema="ledger",
    comment="Which platform configurations are known to work, so that not every delta has to ask",
)

token = sa.Table(
    "token",
    metadata,
    text("fingerprint", "Derived slowly (scrypt) from address, chain, client and its secret", primary_key=True),
    sa.Column(
        "encrypted",
        sa.LargeBinary,
        comment="The access token, encrypted with a key derived slowly from the client secret; null: none is held",
    ),
    sa.Column(
        "lifetime_s", sa.Float, nullable=False, server_default="0", comment="What the token had at birth, in seconds"
    ),
    moment("expires_at", "When it ends, by the database's clock"),
    moment("leased_until", "Until when one worker alone may ask the platform for a new one"),
    schema="ledger",
    comment="The access token that all workers share",
)
