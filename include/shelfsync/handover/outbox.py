"""A table in the store's own database: one row a document, `taken_at` is set by the store's system."""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync import database
from shelfsync.errors import ConfigurationError, TryAgainError
from shelfsync.orders.document import without_customer

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from shelfsync.handover.outlet import Document


class Outbox:
    """Any database that SQLAlchemy speaks. The table is made if it is missing and we may; docs/orders.md has its statement."""

    def __init__(self, url: str, name: str, timeout_s: float) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._engine: sa.Engine | None = None
        self._table = sa.Table(
            name,
            sa.MetaData(),
            sa.Column("hand_over_id", sa.BigInteger, primary_key=True, autoincrement=False),
            sa.Column("order_id", sa.String(64), nullable=False),
            sa.Column("kind", sa.String(16), nullable=False),
            sa.Column("vendor", sa.String(255), nullable=False),
            sa.Column("document", sa.Text, nullable=False),
            sa.Column("written_at", sa.DateTime, nullable=False),
            sa.Column("taken_at", sa.DateTime),
        )

    def write(self, document: Document) -> bool:
        """A row, unless one of its number is there."""
        table = self._table
        try:
            with self._open().begin() as connection:
                mine = table.c.hand_over_id == document.hand_over_id
                if connection.execute(sa.select(table.c.hand_over_id).where(mine)).one_or_none() is None:
                    connection.execute(
                        table.insert().values(
                            hand_over_id=document.hand_over_id,
                            order_id=document.order_id,
                            kind=document.kind,
                            vendor=document.vendor,
                            document=document.text,
                            written_at=dt.datetime.now(dt.UTC).replace(tzinfo=None),
                        )
                    )
        except sa.exc.IntegrityError:
            return False  # another process wrote the same number meanwhile
        except sa.exc.SQLAlchemyError as error:
            raise self._trouble(error) from None
        return False

    def taken(self, written: Sequence[tuple[int, str, str]]) -> Collection[int]:
        """Rows with `taken_at`, and rows that the store has removed."""
        numbers = [number for number, _, _ in written]
        table = self._table
        try:
            with self._open().connect() as connection:
                open_rows = sa.select(table.c.hand_over_id).where(
                    table.c.hand_over_id.in_(numbers), table.c.taken_at.is_(None)
                )
                left = set(connection.execute(open_rows).scalars())
        except sa.exc.SQLAlchemyError as error:
            raise self._trouble(error) from None
        return [number for number in numbers if number not in left]

    def remove_customers(self, documents: Sequence[tuple[int, str, str]]) -> int:
        """Rows that are taken as well, as long as they are there."""
        table = self._table
        removed = 0
        try:
            with self._open().begin() as connection:
                for number, _, _ in documents:
                    mine = table.c.hand_over_id == number
                    text = connection.execute(sa.select(table.c.document).where(mine)).scalar_one_or_none()
                    if text is not None and (told := without_customer(text)) is not None:
                        connection.execute(table.update().where(mine).values(document=told))
                        removed += 1
        except sa.exc.SQLAlchemyError as error:
            raise self._trouble(error) from None
        return removed

    def close(self) -> None:
        """Lets go of connections."""
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    def _open(self) -> sa.Engine:
        if self._engine is None:
            try:
                url = database.parsed(self._url, "SHELFSYNC_ORDERS__HAND_OVER_URL")
                patience = _patience(url.get_dialect().driver, self._timeout_s)
                patience = {name: value for name, value in patience.items() if name not in url.query}
                engine = database.make_engine(url, pool_pre_ping=True, connect_args=patience)
            except (sa.exc.ArgumentError, ValueError, ImportError):
                raise ConfigurationError(
                    "SHELFSYNC_ORDERS__HAND_OVER_URL",
                    "is no database URL with an installed driver",
                    "Write dialect+driver://user:password@host:port/database.",
                ) from None
            self._engine = engine
            self._table.create(engine, checkfirst=True)
        return self._engine

    def _trouble(self, error: Exception) -> TryAgainError:
        """Its text may hold parameters or the address: only its kind is told."""
        self.close()
        return TryAgainError(
            f"the outbox table {self._table.name} cannot be used: {type(error).__name__}. Look at the database of SHELFSYNC_ORDERS__HAND_OVER_URL "
            "and at our rights on the table."
        )


def _patience(driver: str, timeout_s: float) -> dict[str, Any]:
    """What makes this driver give up on a database that does not answer: a store's lock must not hold up every other store."""
    whole_s = max(1, math.ceil(timeout_s))
    if driver in {"psycopg", "psycopg2"}:
        return {"connect_timeout": whole_s, "options": f"-c statement_timeout={int(timeout_s * 1000)}"}
    if driver in {"pymysql", "mysqldb"}:
        return {"connect_timeout": whole_s, "read_timeout": whole_s, "write_timeout": whole_s}
    return {"timeout": timeout_s} if driver in {"pysqlite", "pymssql"} else {}
