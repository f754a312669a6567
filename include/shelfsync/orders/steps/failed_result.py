"""What becomes of a picking result whose sending fails: it is postponed, or quarantined after some unexpected errors."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from partner_api.errors import MisconfiguredError, PartnerError
from shelfsync.errors import ConfigurationError, ShelfsyncError, TryAgainError
from shelfsync.orders.ledger import picking
from shelfsync.store.engine import reason

if TYPE_CHECKING:
    from shelfsync.context import Context
    from shelfsync.orders.ledger.picking import Result
    from shelfsync.vendors.lease import Lease

log = logging.getLogger(__name__)

TRIES = 5
"""Attempts at a result that raises an unexpected error, with growing pauses; then it is quarantined."""


def postpone_or_quarantine(
    context: Context, pending: Result, lease: Lease, error: Exception, failed: dict[str, str]
) -> str:
    """Its new state, or "later". Adds to `failed` what a retry cannot correct."""
    why, foreseen = reason(error), isinstance(error, PartnerError | ShelfsyncError)
    log.log(logging.WARNING if foreseen else logging.ERROR, "fulfil: order %s: %s", pending.order_id, why)
    if isinstance(error, MisconfiguredError | ConfigurationError):
        failed[pending.order_id] = why
    with context.engine.begin() as connection:
        if not foreseen and pending.postponements + 1 >= TRIES:
            picking.quarantine(connection, lease, pending.result_no, why)
            return "quarantined"
        picking.postpone(connection, lease, pending.result_no, why, after_s=_pause_s(context, pending, error))
    return "later"


def _pause_s(context: Context, pending: Result, error: Exception) -> float:
    named = error.after_s if isinstance(error, TryAgainError) else getattr(error, "retry_after_s", None) or 0.0
    return float(max(named, context.settings.orders.retry_after_s(pending.postponements)))
