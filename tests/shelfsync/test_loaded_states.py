from __future__ import annotations

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from shelfsync.loaded_states import loaded_state

ROW = {"state_id": "one", "saved_at": "2026-11-29T01:00:00Z", "revision": "schema_1", "who": "ada"}


def test_a_file_is_noted_once_with_its_person_and_the_database_clock(engine):
    with engine.begin() as connection:
        connection.execute(loaded_state.insert().values(ROW))
    with engine.connect() as connection:
        row = connection.execute(sa.select(loaded_state)).one()
        assert (row.who, row.revision, row.loaded_at > row.saved_at) == ("ada", "schema_1", True)
    with pytest.raises(IntegrityError), engine.begin() as connection:
        connection.execute(loaded_state.insert().values(ROW))
