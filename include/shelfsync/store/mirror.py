"""The mirror of the ledger in the warehouse: a table whose rows are what a query over the ledger returns.

How a table is copied is declared once. A step names the rows that it has changed, in the transaction that changes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.dialects.postgresql import Insert
    from sqlalchemy.engine import Connection


@dataclass(frozen=True)
class Mirror:
    """One table of the warehouse that repeats the ledger."""

    table: sa.Table
    rows: sa.Select[Any]
    """All of its rows, as the ledger has them now; the columns have the names of the table's."""
    by: sa.ColumnElement[Any]
    """The column of the ledger by which rows are named."""
    first_stays: frozenset[str] = frozenset()
    """Columns that keep the first value that was not null."""

    def copy(self, connection: Connection, changed: Iterable[Any]) -> None:
        """Copies the rows of these keys of the ledger, as it has them now in this transaction."""
        if wanted := list(changed):
            connection.execute(self._copying, {"changed_keys": wanted})

    @cached_property
    def _copying(self) -> Insert:
        """Built once a process: a step sends it for each vendor."""
        names = list(self.rows.selected_columns.keys())
        changed = sa.bindparam("changed_keys", type_=ARRAY(self.by.type))
        # in one order, so that two processes never wait for each other
        rows = self.rows.where(self.by == sa.any_(changed)).order_by(self.by)
        statement = insert(self.table).from_select(names, rows)
        key = self.table.primary_key.columns.keys()
        new = {name: self._next(name, statement.excluded[name]) for name in names if name not in key}
        if set(new) <= self.first_stays:
            return statement.on_conflict_do_nothing()
        return statement.on_conflict_do_update(index_elements=key, set_=new)

    def _next(self, name: str, now: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
        return sa.func.coalesce(self.table.c[name], now) if name in self.first_stays else now
