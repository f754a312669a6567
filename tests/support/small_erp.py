"""A small ERP for tests: one table in a SQLite file, written as an ERP does."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

SQL = "SELECT vendor, sku, barcode, price, quantity, active, max_sales_quantity FROM stock"
_TABLE = "CREATE TABLE stock (vendor TEXT, sku TEXT, barcode TEXT, price TEXT, quantity TEXT, active INTEGER, max_sales_quantity TEXT)"


class SmallErp:
    """The table, and its address for SHELFSYNC_ERP__URL; `SQL` reads it. `new=False`: the file has it."""

    def __init__(self, path: Path, *, new: bool = True) -> None:
        self.url = f"sqlite:///{path}"
        self.file = path
        if new:
            self.execute(_TABLE)

    def execute(self, statement: str, *values: Any) -> None:
        with contextlib.closing(sqlite3.connect(self.file)) as connection:
            connection.execute("PRAGMA synchronous = OFF")  # a power cut may take it
            with connection:
                connection.execute(statement, values)

    def put(
        self, vendor: str, sku: str, price: Any = "1.00", quantity: Any = 10, active: Any = 1, limit: Any = None
    ) -> None:
        self.execute("DELETE FROM stock WHERE vendor = ? AND sku = ?", vendor, sku)
        self.execute("INSERT INTO stock VALUES (?, ?, NULL, ?, ?, ?, ?)", vendor, sku, price, quantity, active, limit)

    def price(self, vendor: str, sku: str) -> Any:
        """The current value."""
        with contextlib.closing(sqlite3.connect(self.file)) as connection:
            (found,) = connection.execute("SELECT price FROM stock WHERE vendor = ? AND sku = ?", (vendor, sku))
            return found[0]
