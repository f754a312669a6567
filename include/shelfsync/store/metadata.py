"""The one catalogue of tables: ledger, inbox, rate_limit and warehouse are schemas of one database."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy import MetaData

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
