"""The one catalogue of tables: ledger, inbox, rate_limit and warehouse are schemas of one database; the kinds of columns that most tables share;
and database time, the one clock that all workers share (I17).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy import MetaData

from shelfsync.secret_mask import mask

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


def text(name: str, comment: str, *more: Any, **options: Any) -> sa.Column[Any]:
    """Text of any length. `more` and `options` are those of a column: a foreign key, `nullable`, `primary_key`."""
    return sa.Column(name, sa.Text, *more, comment=comment, **options)


class _Masked(sa.types.TypeDecorator[str]):
    """Text that never holds a secret of the settings."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:  # noqa: ARG002  the signature is SQLAlchemy's
        return None if value is None else mask(value)


def line(name: str, comment: str, **options: Any) -> sa.Column[Any]:
    """A line for a person: an error, a reason. It may quote a library, so the secrets of the settings are masked when it is written."""
    return sa.Column(name, _Masked, comment=comment, **options)


def lake_file(name: str, comment: str, **options: Any) -> sa.Column[Any]:
    """The path of a file of the lake, which housekeeping keeps as long as the row needs it."""
    return text(name, comment, info=LAKE_FILE, **options)


def number(name: str, comment: str, *more: Any, **options: Any) -> sa.Column[Any]:
    """A whole number."""
    return sa.Column(name, sa.BigInteger, *more, comment=comment, **options)


def identity(name: str, comment: str) -> sa.Column[Any]:
    """A primary key that the database counts up."""
    return number(name, comment, sa.Identity(always=True), primary_key=True)


def count(name: str, comment: str) -> sa.Column[Any]:
    """A count, 0 by default."""
    return number(name, comment, nullable=False, server_default="0")


def tries(name: str, comment: str) -> sa.Column[Any]:
    """How often something was tried: a small count, 0 by default."""
    return sa.Column(name, sa.Integer, nullable=False, server_default="0", comment=comment)


def boolean(name: str, comment: str, **options: Any) -> sa.Column[Any]:
    """True, false, or null if it may be."""
    return sa.Column(name, sa.Boolean, comment=comment, **options)


def flag(name: str, comment: str) -> sa.Column[Any]:
    """True or false, false by default."""
    return boolean(name, comment, nullable=False, server_default=sa.false())


def moment(name: str, comment: str, **options: Any) -> sa.Column[Any]:
    """A point in time that the writer sets."""
    return sa.Column(name, sa.DateTime(timezone=True), comment=comment, **options)


def written(name: str, comment: str) -> sa.Column[Any]:
    """When the row was written, by the database's clock (`instant`)."""
    return moment(name, comment, nullable=False, server_default=sa.text("ledger.instant()"))


def one_of(states: Iterable[StrEnum], column: str = "state") -> str:
    """The condition `state IN (...)` as SQL text, for constraints, indexes and computed columns."""
    return f"{column} IN ({', '.join(repr(state.value) for state in states)})"


def together(statement: sa.Update, *also: sa.Update) -> sa.Update:
    """One statement that changes all of these, each another table."""
    return statement.add_cte(*(one.cte(f"also_{number}") for number, one in enumerate(also)))


def instant() -> sa.ColumnElement[Any]:
    """The present as SQL. In a session that has set `shelfsync.instant`, it is that time: a simulation sets it."""
    return sa.func.ledger.instant(type_=sa.DateTime(timezone=True))


def first_end(ended_at: sa.Column[Any], state: sa.Column[Any], reached: str) -> sa.ColumnElement[Any]:
    """When a row ended in the state it has reached: a report that is made again in the same state does not move it."""
    return sa.case((state == reached, sa.func.coalesce(ended_at, instant())), else_=instant())


def after(seconds: float | sa.ColumnElement[float]) -> sa.ColumnElement[Any]:
    """So many seconds from now, as SQL."""
    return instant() + sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds)
