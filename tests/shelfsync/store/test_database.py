"""No error of an engine contains the values of a statement or a row."""

from __future__ import annotations

import traceback

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.errors import ConfigurationError
from shelfsync.store.engine import create_engine, parsed_url

CANARY = "canary-customer-1"


def error_of(engine, statement, **values) -> str:
    with pytest.raises(sa.exc.SQLAlchemyError) as caught, engine.begin() as connection:
        connection.execute(sa.text(statement), values)
    return "".join(traceback.format_exception(caught.value))


def test_an_error_holds_neither_parameters_nor_the_failing_row(engine):
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE person (name text PRIMARY KEY, phone text NOT NULL)")
        connection.execute(sa.text("INSERT INTO person VALUES (:name, '1')"), {"name": CANARY})
    insert = "INSERT INTO person VALUES (:name, :phone)"
    duplicate = error_of(engine, insert, name=CANARY, phone="2")
    missing = error_of(engine, insert, name=f"{CANARY}-b", phone=None)
    assert "duplicate key" in duplicate
    assert "null value in column" in missing
    assert CANARY not in duplicate + missing


def test_the_ledgers_address_is_rejected_and_no_part_of_it_is_shown():
    for url in (f"postgresql://u:first@{CANARY}@db/x", f"postgresql://u:p@db:{CANARY}/x"):
        with pytest.raises(ConfigurationError, match="SHELFSYNC_DATABASE_URL") as caught:
            create_engine(url)
        assert CANARY not in str(caught.value)


@given(password=st.text(st.characters(blacklist_characters="%", min_codepoint=33, max_codepoint=126), min_size=1))
def test_whatever_a_password_holds_no_part_of_it_becomes_host_or_database(password):
    try:
        url = parsed_url(f"postgresql://user:{password}@host.example/erp", "SHELFSYNC_ERP__URL")
    except ConfigurationError:
        return
    assert (url.host, url.database, url.password) == ("host.example", "erp", password.replace("+", "+"))
