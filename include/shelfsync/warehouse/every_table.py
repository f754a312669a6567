"""Every table of ledger, inbox, rate limit and warehouse.

A table is added to `metadata` when its module is imported. Code that reads all tables imports `metadata` from here: it is complete in
every process. Add each new module with a table here.
"""
# ruff: noqa: F401  the modules are imported for the tables that they declare

from __future__ import annotations

import shelfsync.alerts.ledger.tables
import shelfsync.catalog.ledger.change_files
import shelfsync.catalog.ledger.exports
import shelfsync.catalog.ledger.extracts
import shelfsync.catalog.ledger.observations
import shelfsync.catalog.ledger.readings
import shelfsync.catalog.ledger.rejections
import shelfsync.catalog.ledger.restorations
import shelfsync.catalog.ledger.source_columns
import shelfsync.catalog.ledger.tables
import shelfsync.catalog.ledger.vendor_counts
import shelfsync.catalog.warehouse.assortment_history
import shelfsync.catalog.warehouse.baseline_history
import shelfsync.catalog.warehouse.drift
import shelfsync.catalog.warehouse.tables
import shelfsync.decisions.ledger.tables
import shelfsync.inbox.events
import shelfsync.inbox.refusals
import shelfsync.loaded_states
import shelfsync.orders.ledger.tables
import shelfsync.orders.warehouse.record
import shelfsync.outages
import shelfsync.platform.credentials_check
import shelfsync.platform.jobs.table
import shelfsync.platform.kill_switch
import shelfsync.platform.rate_limit.tables
import shelfsync.platform.shared_token
import shelfsync.promotions.ledger.tables
import shelfsync.promotions.warehouse.record
import shelfsync.vendors.lease
from shelfsync.store.metadata import SCHEMAS, metadata

__all__ = ["SCHEMAS", "metadata"]
