"""The views of the warehouse. They are created again after every migration, and whenever one of them changed here.

The SQL is the part of the language that PostgreSQL and DuckDB share, so that the same text answers in both (docs/reference/warehouse.md).
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.catalog.warehouse.views import CATALOG_VIEWS, VENDOR_COUNT
from shelfsync.orders.warehouse.views import ORDER_VIEWS
from shelfsync.warehouse.timeline import TIMELINE

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

VIEWS = (*CATALOG_VIEWS, VENDOR_COUNT, *ORDER_VIEWS, TIMELINE)
"""Each view comes after those that it reads."""

_MARK = "Kept by shelfsync; views "


def drop(connection: Connection) -> None:
    """Drops all views, so that a migration may change their tables."""
    if connection.execute(sa.text("SELECT to_regnamespace('warehouse') IS NULL")).scalar_one():
        return
    for view in reversed(VIEWS):
        connection.execute(sa.text(f"DROP VIEW IF EXISTS warehouse.{view.name}"))
    connection.execute(sa.text("COMMENT ON SCHEMA warehouse IS NULL"))


def create(connection: Connection) -> None:
    """Creates all views as they are here, with their comments."""
    drop(connection)
    for view in VIEWS:
        connection.execute(sa.text(f"CREATE VIEW warehouse.{view.name} AS {view.sql}"))
        _comment(connection, f"VIEW warehouse.{view.name}", view.comment)
        for name, meaning in view.columns.items():
            _comment(connection, f'COLUMN warehouse.{view.name}."{name}"', meaning)
    _comment(connection, "SCHEMA warehouse", mark())


def mark() -> str:
    """The comment of the schema in a database that has the views as they are here."""
    return _MARK + fingerprint()


def fingerprint() -> str:
    """Changes when any view does."""
    return hashlib.sha256(repr(VIEWS).encode()).hexdigest()[:16]


def _comment(connection: Connection, what: str, text: str) -> None:
    quoted = text.replace("'", "''")
    connection.execute(sa.text(f"COMMENT ON {what} IS :text".replace(":text", f"'{quoted}'").replace(":", r"\:")))
