"""A small retail ERP in PostgreSQL, schema `erp`, to learn and to test on: create it, let a quarter of an hour pass, read it by sample.sql.

It is as such systems are: stock is no column but the sum of bookings, a price of the store beats a price of the chain, which beats the list
price, and each is valid for some time. The same seed makes the same ERP.
"""

from __future__ import annotations

from pathlib import Path

from shelfsync.erp.sample.campaigns import campaigns, flash, plentiful
from shelfsync.erp.sample.create import Created, assortment, create
from shelfsync.erp.sample.mistake import Mistake, correct, mistype
from shelfsync.erp.sample.tick import Tick, tick

SELECT_FILE = Path(__file__).with_name("sample.sql")
"""The SELECT that gives shelfsync what it wants, for SHELFSYNC_ERP__SQL_FILE; and the example to write one's own by."""
PROMOTIONS_FILE = Path(__file__).with_name("promotions.sql")
"""The same for its campaigns, for SHELFSYNC_PROMOTIONS__SQL_FILE."""
CHANGES_FILE = Path(__file__).with_name("changes.sql")
"""What changed in it, for SHELFSYNC_ERP__CHANGES_SQL_FILE; it reads the table that CHANGE_TABLE_FILE makes."""
CHANGE_TABLE_FILE = Path(__file__).with_name("change_table.sql")
"""The table of its changes and the triggers that fill it, for the ERP's administrator."""

__all__ = [
    "CHANGES_FILE",
    "CHANGE_TABLE_FILE",
    "PROMOTIONS_FILE",
    "SELECT_FILE",
    "Created",
    "Mistake",
    "Tick",
    "assortment",
    "campaigns",
    "correct",
    "create",
    "flash",
    "mistype",
    "plentiful",
    "tick",
]
