"""Importing this makes every table known: those of the inbox and the budget, and whatever module of ledger and warehouse has some."""

from __future__ import annotations

import importlib
import pkgutil

import shelfsync.budget.tables
import shelfsync.inbox.tables
import shelfsync.ledger
import shelfsync.warehouse

for _room in (shelfsync.ledger, shelfsync.warehouse):
    for _module in pkgutil.iter_modules(_room.__path__, f"{_room.__name__}."):
        importlib.import_module(_module.name)
