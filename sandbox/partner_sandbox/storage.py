"""One SQLite database, in memory or in a file, behind one connection and one lock.

A single connection keeps a database in memory whole and a file free of lock errors; nothing holds the lock for longer
than one short transaction, and bulk work is cut into pieces so that other requests get their turn.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, MetaData, Row, Select, create_engine, func
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import StaticPool

metadata = MetaData()
FILE_NAME = "partner-sandbox.sqlite"


class StorageClosedError(RuntimeError):
    """Work that a thread goes on with while the platform stops; a job runs again when it starts again."""


class StorageUnusableError(OSError):
    """The folder cannot be opened, or another process has it open."""


class Storage:
    """The platform's stored state."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._engine: Engine | None = None
        self._open: Connection | None = None
        """The transaction of the thread that holds the lock."""
        self.starts = 0
        """How many processes opened this folder before."""

    def open(self) -> None:
        """Opens the database, creates missing tables and counts the start: all of it or, when the process dies, nothing.

        It holds the file until `close`: two processes on one folder would each answer from half of the truth. Raises StorageUnusableError.
        """
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
        url = "sqlite://" if self._folder is None else f"sqlite:///{self._folder / FILE_NAME}"
        self._engine = create_engine(
            url, poolclass=StaticPool, connect_args={"check_same_thread": False}, hide_parameters=True
        )
        try:
            self._create()
        except OperationalError as error:
            self.close()
            held = "locked" in str(error.orig)
            why = "another partner-sandbox has it open; stop that one" if held else f"{error.orig}; make it writable"
            raise StorageUnusableError(f"cannot open {self._folder}: {why} or name another folder by --data") from None
        with self._lock, self._engine.connect() as connection:
            if self._folder is not None:
                connection.exec_driver_sql("PRAGMA journal_mode = WAL")
            connection.exec_driver_sql("PRAGMA synchronous = OFF")

    def _create(self) -> None:
        with self.begin() as connection:
            connection.exec_driver_sql("PRAGMA locking_mode = EXCLUSIVE")
            connection.exec_driver_sql("BEGIN IMMEDIATE")  # Python's driver begins none for a CREATE
            self.starts = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
            metadata.create_all(connection)
            connection.exec_driver_sql(f"PRAGMA user_version = {self.starts + 1}")

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """One transaction, alone; within another one of this thread a part of that. Raises StorageClosedError once it is closed."""
        with self._lock:
            if self._engine is None:
                raise StorageClosedError("the sandbox's storage is not open")
            if self._open is not None:
                yield self._open
                return
            with self._engine.begin() as connection:
                self._open = connection
                try:
                    yield connection
                finally:
                    self._open = None

    @property
    def changes(self) -> int:
        """How many rows have been written and deleted since it was opened: an unchanged number means unchanged tables."""
        with self.begin() as connection:
            driver: Any = connection.connection.dbapi_connection
            return int(driver.total_changes)

    def clear(self) -> None:
        """Deletes all rows."""
        with self.begin() as connection:
            for table in reversed(metadata.sorted_tables):
                connection.execute(table.delete())

    def close(self) -> None:
        """Waits for the transaction under way: SQLite spins for ever when a thread writes on a connection being closed."""
        with self._lock:
            if self._engine is not None:
                self._engine.dispose()
                self._engine = None


def page(connection: Connection, query: Select[Any], first: int, count: int) -> tuple[int, Sequence[Row[Any]]]:
    """How many rows a query has, and `count` of them from `first` on."""
    counted = query.with_only_columns(func.count(), maintain_column_froms=True).order_by(None)
    return connection.execute(counted).scalar_one(), connection.execute(query.limit(count).offset(first)).all()
