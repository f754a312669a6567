"""No text that comes from outside stops the rows that are written beside it."""

from __future__ import annotations

import io
import json

import pyarrow as pa
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv
from sqlalchemy.dialects.postgresql import JSONB

from shelfsync.storable import json_text, storable, text
from shelfsync.store import bulk
from shelfsync.store.engine import create_engine

ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=20) | st.sampled_from(
    ["\x00", "\ud800", "\ude00\ud83d", "\\u0000"]
)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | ANY_TEXT,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(ANY_TEXT, part, max_size=3),
    max_leaves=8,
)
TABLE = sa.Table(
    "held",
    sa.MetaData(),
    sa.Column("place", sa.Integer),
    sa.Column("name", sa.Text),
    sa.Column("what", JSONB),
    prefixes=["TEMPORARY"],
)


@pytest.fixture(scope="module")
def connection(postgres):
    engine = create_engine(postgres.create_database("storable"))
    with engine.connect() as connection:
        TABLE.create(connection)
        yield connection
    engine.dispose()


@given(value=ANY_JSON)
def test_json_is_written_as_it_is_unless_postgresql_cannot_hold_it(value):
    held = json.loads(json_text(value).encode())
    assert held == storable(value)
    plain = json.dumps(value, ensure_ascii=False)
    if "\\u0000" not in plain and not any("\ud800" <= character <= "\udfff" for character in plain):
        assert json_text(value) == plain


@given(value=ANY_TEXT)
def test_a_text_keeps_each_character_that_postgresql_can_hold(value):
    held = text(value)
    assert "\x00" not in held
    held.encode()
    if "\x00" not in value and not any("\ud800" <= character <= "\udfff" for character in value):
        assert held == value


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(value=ANY_JSON, name=ANY_TEXT)
def test_a_row_with_any_text_and_any_json_is_inserted_with_the_row_beside_it(connection, value, name):
    with connection.begin_nested() as undone:
        connection.execute(
            bulk.insertion(
                TABLE, [{"place": 1, "name": name, "what": value}, {"place": 2, "name": "plain", "what": {"a": 1}}]
            )
        )
        connection.execute(TABLE.insert().values(place=3, what=value))
        found = connection.execute(sa.select(TABLE.c.place, TABLE.c.name, TABLE.c.what).order_by("place")).all()
        assert [(row.place, row.name) for row in found] == [(1, text(name)), (2, "plain"), (3, None)]
        assert found[0].what == found[2].what == storable(value)
        undone.rollback()


def test_a_row_with_a_nul_is_copied_with_the_row_beside_it(connection):
    rows = pa.table({"place": pa.array([1, 2], pa.int32()), "name": ["a\x00b", "plain"]})
    with connection.begin_nested() as undone:
        assert bulk.copy_into(connection, "held", rows) == 2
        found = connection.execute(sa.select(TABLE.c.name).order_by(TABLE.c.place)).scalars().all()
        assert found == ["a\ufffdb", "plain"]
        undone.rollback()
    assert b"\x00" in _written(rows)


def _written(rows: pa.Table) -> bytes:
    sink = io.BytesIO()
    csv.write_csv(rows, sink)
    return sink.getvalue()
