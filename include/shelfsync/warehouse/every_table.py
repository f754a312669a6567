"""The one place that knows every table of ledger, inbox, budget and warehouse.

A table joins `metadata` when the module that declares it is imported. Whoever goes through all tables therefore takes `metadata` from
here and from nowhere else: it is complete in every process, whatever was imported before. A new module with a table is added here.
"""

from __future__ import annotations

import shelfsync.budget.tables
import shelfsync.inbox.tables
import shelfsync.ledger.exports
import shelfsync.ledger.feeds
import shelfsync.ledger.healings
import shelfsync.ledger.hold_tables
import shelfsync.ledger.leases
import shelfsync.ledger.observations
import shelfsync.ledger.order_tables
import shelfsync.ledger.promotion_tables
import shelfsync.ledger.rejections
import shelfsync.ledger.restorations
import shelfsync.ledger.switches
import shelfsync.ledger.tables
import shelfsync.ledger.vendor_counts
import shelfsync.warehouse.drift
import shelfsync.warehouse.history
import shelfsync.warehouse.order_tables
import shelfsync.warehouse.promotion_tables
import shelfsync.warehouse.shelf
import shelfsync.warehouse.tables  # noqa: F401  imported for the tables that they declare
from shelfsync.ledger.metadata import SCHEMAS, metadata

__all__ = ["SCHEMAS", "metadata"]
