"""Many rows in one statement are what as many statements of one row would be."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from shelfsync.secret_mask import MASK, mask
from shelfsync.store import bulk
from shelfsync.store.engine import create_engine
from shelfsync.store.metadata import flag, line, moment, number, text

SECRET = "canary-password-7"

KINDS = sa.Table(
    "kinds",
    sa.MetaData(),
    number("key", "A whole number", primary_key=True),
    text("named", "Text"),
    line("error", "A line for a person"),
    flag("done", "True or false"),
    moment("at", "A time"),
    sa.Column("price", sa.Numeric),
    sa.Column("body", JSONB),
    sa.Column("raw", sa.LargeBinary),
    sa.Column("names", sa.ARRAY(sa.Text)),
    prefixes=["TEMPORARY"],
)

ROWS = [
    {
        "key": 1,
        "named": 'it\'s "one"',
        "error": f"no {SECRET} here",
        "done": True,
        "at": dt.datetime(2026, 1, 2, 3, 4, 5, 6, dt.UTC),
        "price": Decimal("12345678901234567.125"),
        "body": {"a": [1, None]},
        "raw": b"\x00\xff",
        "names": ["a,b", '"'],
    },
    {
        **dict.fromkeys(("named", "error", "at", "price", "body", "raw", "names")),
        "key": 2,
        "done": False,
    },
]


@pytest.fixture
def connection(database_url):
    engine = create_engine(database_url)
    mask.add([SECRET])
    with engine.connect() as session:
        KINDS.create(session)
        yield session
    engine.dispose()


def _kept(connection):
    return [dict(row) for row in connection.execute(sa.select(KINDS).order_by(KINDS.c.key)).mappings()]


def _by_one(connection):
    """The rows as SQLAlchemy writes them one by one."""
    with connection.begin_nested() as doing:
        connection.execute(KINDS.insert(), ROWS)
        kept = _kept(connection)
        doing.rollback()
    return kept


def test_rows_of_every_kind_are_inserted_as_one_by_one_and_secrets_are_masked(connection):
    connection.execute(bulk.insertion(KINDS, ROWS))
    kept = _kept(connection)
    assert kept[0]["error"] == f"no {MASK} here"
    connection.execute(KINDS.delete())
    assert kept == _by_one(connection)


def test_rows_that_are_updated_are_masked_too(connection):
    connection.execute(KINDS.insert(), [{"key": 1}, {"key": 2}])
    connection.execute(bulk.update(KINDS, "key", ROWS))
    kept = _kept(connection)
    connection.execute(KINDS.delete())
    assert kept == _by_one(connection)
