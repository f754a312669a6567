"""A small ERP whose rows carry when they changed: one table in a SQLite file, with transactions that commit later than they began."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_COLUMNS = "vendor, sku, barcode, price, quantity, active, max_sales_quantity"
_TABLE = (
    "CREATE TABLE stock (vendor TEXT, sku TEXT, barcode TEXT, price TEXT, quantity TEXT, active INTEGER,"
    " max_sales_quantity TEXT, changed INTEGER, PRIMARY KEY (vendor, sku))"
)
_TIME = "datetime(changed, 'unixepoch')"
TIMES = {
    "sql": f"SELECT {_COLUMNS} FROM stock",
    "changes_sql": f"SELECT {_COLUMNS}, {_TIME} AS changed_at FROM stock WHERE {_TIME} >= :since",
}
"""Settings of section `erp` for times as text."""
NUMBERS = {
    "sql": f"SELECT {_COLUMNS} FROM stock",
    "changes_sql": f"SELECT {_COLUMNS}, changed FROM stock WHERE changed >= :since",
    "changes_column": "changed",
    "changes_kind": "number",
}
"""The same for numbers."""


class StampedErp:
    """The table, its clock in seconds, and its address for SHELFSYNC_ERP__URL."""

    def __init__(self, path: Path) -> None:
        self.url = f"sqlite:///{path}"
        self.now = 1_700_000_000
        self._path = path
        self.execute(_TABLE)

    def execute(self, statement: str, *values: Any) -> list[Any]:
        with contextlib.closing(sqlite3.connect(self._path)) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            with connection:
                return connection.execute(statement, values).fetchall()

    def put(
        self, vendor: str, sku: str, price: Any = "1.00", quantity: Any = 10, active: Any = 1, *, began_s_ago: int = 0
    ) -> None:
        """Commits a row now; its stamp is when the transaction began."""
        stamp = self.now - began_s_ago
        values = (vendor, sku, price, quantity, active, stamp)
        self.execute("INSERT OR REPLACE INTO stock VALUES (?, ?, NULL, ?, ?, ?, NULL, ?)", *values)

    def fill(self, platform: Any, vendors: Iterable[str]) -> None:
        """The products a, b and c of each vendor, here and, at another price, on the platform."""
        known = [{"sku": sku, "barcodes": [], "title": sku, "price": 9.99, "active": True} for sku in "abc"]
        for vendor in vendors:
            platform.put_products(vendor, known)
            for sku in "abc":
                self.put(vendor, sku)

    def remove(self, vendor: str, sku: str) -> None:
        """Takes the row out, which leaves no stamp."""
        self.execute("DELETE FROM stock WHERE vendor = ? AND sku = ?", vendor, sku)

    def rows(self, vendor: str) -> list[tuple[Any, ...]]:
        """(sku, price, quantity, active) of a vendor, by SKU."""
        return self.execute("SELECT sku, price, quantity, active FROM stock WHERE vendor = ? ORDER BY sku", vendor)
