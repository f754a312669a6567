"""A database notes whose it is, once, and is refused to another chain."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from shelfsync.errors import ConfigurationError
from shelfsync.store.database_owner import claim


def test_the_first_chain_stays_the_owner(engine):
    claim(engine, "north")
    claim(engine, "north")
    with pytest.raises(ConfigurationError, match="is that of the chain north, and not of south"):
        claim(engine, "south")
    with engine.begin() as connection:
        connection.execute(
            sa.text("COMMENT ON SCHEMA ledger IS 'chain south'")
        )  # as the error tells it for a renamed chain
    claim(engine, "south")
