"""The one catalogue of tables: ledger, inbox, rate_limit and warehouse are schemas of one database; and the kinds of columns that most tables share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy import MetaData

if TYPE_CHECKING:
    from collections.abc import Iterable
    from enum import StrEnum

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

SCHEMAS = ("ledger", "inbox", "rate_limit", "warehouse")

LAKE_FILE = {"lake": True}
"""`info` of a column that holds a path of the lake: housekeeping keeps the file as long as the row needs it."""
PAST_LAKE_FILE = {"lake": False}
"""`info` of a column that holds a path of the lake and keeps no file: another row keeps it, or the path alone is compared."""


@dataclass(frozen=True)
class View:
    """A view: its meaning, the meaning of each column, and its SQL."""

    name: str
    comment: str
    columns: dict[str, str] = field(hash=False)
    sql: str


def identity(name: str, comment: str) -> sa.Column[int]:
    """A primary key that the database counts up."""
    return sa.Column(name, sa.BigInteger, sa.Identity(always=True), primary_key=True, comment=comment)


def text(name: str, comment: str, *, nullable: bool = True) -> sa.Column[str]:
    """Text of any length."""
    return sa.Column(name, sa.Text, nullable=nullable, comment=comment)


def moment(name: str, comment: str, *, nullable: bool = True) -> sa.Column[object]:
    """A point in time that the writer sets."""
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable, comment=comment)


def written(name: str, comment: str) -> sa.Column[object]:
    """When the row was written, by the database's clock (`store.instant`)."""
    return sa.Column(
        name, sa.DateTime(timezone=True), nullable=False, server_default=sa.text("ledger.instant()"), comment=comment
    )


def count(name: str, comment: str) -> sa.Column[int]:
    """A count, 0 by default."""
    return sa.Column(name, sa.BigInteger, nullable=False, server_default="0", comment=comment)


def one_of(states: Iterable[StrEnum]) -> str:
    """The condition `state IN (...)` as SQL text, for constraints, indexes and computed columns."""
    return f"state IN ({', '.join(repr(state.value) for state in states)})"
