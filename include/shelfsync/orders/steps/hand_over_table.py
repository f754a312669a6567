"""A table in the store's own database: one row a document, `taken_at` is set by the store's system."""

from __future__ import annotations

import contextlib
import datetime as dt
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.erp import statement_time_limit
from shelfsync.errors import ConfigurationError, DataError, TryAgainError
from shelfsync.orders.customer_for_store import without_customer
from shelfsync.store.engine import make_engine, parsed_url

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from shelfsync.orders.hand_over_channel import Document


class Outbox:
    """A table in any database that SQLAlchemy supports. It is created if it is missing and the rights allow it (docs/how-to/orders.md)."""

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
        """Inserts a row, unless the document is there. DataError: another document has its number, and the store would never see this one."""
        try:
            try:
                with self._transaction() as connection:
                    if not self._has(connection, document):
                        connection.execute(self._table.insert().values(_row(document)))
            except sa.exc.IntegrityError:
                # Another process has written it, or a constraint of the store's table rejects it.
                with self._transaction() as connection:
                    if not self._has(connection, document):
                        raise
        except sa.exc.SQLAlchemyError as error:
            raise self._trouble(error) from None
        return False

    def taken(self, written: Sequence[tuple[int, str, str]]) -> Collection[int]:
        """The numbers of rows with `taken_at`, and of rows that the store has removed."""
        numbers = [number for number, _, _ in written]
        table = self._table
        try:
            with self._transaction() as connection:
                open_rows = sa.select(table.c.hand_over_id).where(
                    table.c.hand_over_id.in_(numbers), table.c.taken_at.is_(None)
                )
                left = set(connection.execute(open_rows).scalars())
        except sa.exc.SQLAlchemyError as error:
            raise self._trouble(error) from None
        return [number for number in numbers if number not in left]

    def remove_customers(self, documents: Sequence[tuple[int, str, str]]) -> int:
        """Updates the rows that exist, also taken ones."""
        table = self._table
        removed = 0
        try:
            for number, _, _ in documents:
                with self._transaction() as connection:
                    same_number = table.c.hand_over_id == number
                    text = connection.execute(sa.select(table.c.document).where(same_number)).scalar_one_or_none()
                    if text is not None and (stripped := without_customer(text)) is not None:
                        connection.execute(table.update().where(same_number).values(document=stripped))
                        removed += 1
        except sa.exc.SQLAlchemyError as error:
            raise self._trouble(error) from None
        return removed

    def close(self) -> None:
        """Closes its connections."""
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sa.Connection]:
        """A transaction that ends after the timeout, also if the database does not answer: it must not delay the other stores."""
        with self._open().connect() as connection:
            driver = connection.connection.driver_connection
            with statement_time_limit.time_limit(connection, driver, self._timeout_s), connection.begin():
                if connection.dialect.name == "postgresql":
                    statement_time_limit.limit_postgresql(connection, self._timeout_s)
                yield connection

    def _open(self) -> sa.Engine:
        if self._engine is None:
            try:
                url = parsed_url(self._url, "SHELFSYNC_ORDERS__HAND_OVER_URL")
                engine = make_engine(url, connect_args=self._time_limits(url))
            except (sa.exc.ArgumentError, ValueError, ImportError):
                raise ConfigurationError(
                    "SHELFSYNC_ORDERS__HAND_OVER_URL",
                    "is no database URL with an installed driver",
                    "Write dialect+driver://user:password@host:port/database.",
                ) from None
            statement_time_limit.limit_calls(engine, self._timeout_s)
            self._engine = engine
            with self._transaction() as connection:
                self._table.create(connection, checkfirst=True)
        return self._engine

    def _has(self, connection: sa.Connection, document: Document) -> bool:
        table = self._table
        same_number = table.c.hand_over_id == document.hand_over_id
        known = connection.execute(sa.select(table.c.order_id, table.c.kind).where(same_number)).one_or_none()
        if known is not None and tuple(known) != (document.order_id, document.kind):
            raise DataError(
                f"the outbox has number {document.hand_over_id} already, for another order, so this one was not handed over. If the"
                " ledger was restored from a backup, raise its numbers (docs/how-to/backup.md)."
            )
        return known is not None

    def _time_limits(self, url: sa.URL) -> dict[str, Any]:
        driver = url.get_dialect().driver
        limits = statement_time_limit.time_limits(driver, connect_s=self._timeout_s, wait_s=self._timeout_s)
        if driver == "pysqlite":
            limits["timeout"] = self._timeout_s  # how long it waits for another writer
        return {name: value for name, value in limits.items() if name is not None and name not in url.query}

    def _trouble(self, error: Exception) -> TryAgainError:
        """The text of the error may hold parameters or the address: only its class is reported."""
        self.close()
        return TryAgainError(
            f"the outbox table {self._table.name} cannot be used: {type(error).__name__}. Look at the database of SHELFSYNC_ORDERS__HAND_OVER_URL, "
            "at the constraints of the table and at the rights of shelfsync on it."
        )


def _row(document: Document) -> dict[str, Any]:
    return {
        "hand_over_id": document.hand_over_id,
        "order_id": document.order_id,
        "kind": document.kind,
        "vendor": document.vendor,
        "document": document.text,
        "written_at": dt.datetime.now(dt.UTC).replace(tzinfo=None),
    }
