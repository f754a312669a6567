"""fulfil: sends picking results to the platform. Each is checked and recorded before it is sent, and read back before a retry.

A local failure changes nothing about an order: the order stays as it is, and shelfsync retries its result (I18).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from partner_api import json_values
from shelfsync.orders.ledger import picking
from shelfsync.orders.picking_result import read
from shelfsync.orders.steps.failed_result import postpone_or_quarantine
from shelfsync.orders.steps.result_state import ResultStateMachine
from shelfsync.store.engine import is_database_trouble
from shelfsync.vendors.lease import LeaseLostError, leased

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shelfsync.context import Context
    from shelfsync.orders.ledger.picking import Result
    from shelfsync.vendors.lease import Lease

log = logging.getLogger(__name__)

AT_ONCE = 500


def retry(context: Context, order_id: str) -> int:
    """Opens the quarantined picking results of an order again; returns how many."""
    with context.engine.begin() as connection:
        return picking.retry(connection, order_id.strip().lower())


def fulfil(context: Context, order_ids: Iterable[str] = ()) -> dict[str, Any]:
    """Processes every open result that is due (of these orders, if any are named).

    Returns `{"done", "checked", "rejected", "overtaken", "answered", "later", "quarantined", "failed": {order_id: why}}`. A result
    that raises stops no other. `failed`: errors that a retry cannot correct (credentials, settings).
    """
    counts: dict[str, Any] = {
        **dict.fromkeys(("done", "checked", "rejected", "overtaken", "answered", "later", "quarantined"), 0),
        "failed": {},
    }
    seen: set[int] = set()
    wanted = list(order_ids)
    while len(seen) < AT_ONCE:
        with context.engine.connect() as connection:
            waiting = [
                pending
                for pending in picking.due(connection, at_most=AT_ONCE, order_ids=wanted)
                if pending.result_no not in seen
            ]
        if not waiting:
            break  # the next result of an order becomes the first when the one before it has ended
        for pending in waiting:
            seen.add(pending.result_no)
            if (state := _process(context, pending, counts["failed"])) is not None:
                counts[state] += 1
    return counts


def _process(context: Context, pending: Result, failed: dict[str, str]) -> str | None:
    """Its new state, or "later". None: another process has the lease of the order, or has processed this result."""
    with leased(context.engine, lease_name(pending.order_id), context.settings.sync.lease_s) as lease:
        if lease is None:
            return None
        with context.engine.connect() as connection:
            due_now = picking.due(connection, at_most=1, result_no=pending.result_no)
        try:
            return _advance(context, due_now[0], lease, failed) if due_now else None
        except LeaseLostError as lost:
            log.warning("fulfil: order %s: %s", pending.order_id, lost)
            return "later"


def lease_name(order_id: str) -> str:
    """The name of the lease for the results of an order."""
    return f"order:{order_id}"


def _advance(context: Context, pending: Result, lease: Lease, failed: dict[str, str]) -> str:
    """Its new state, or "later"."""
    try:
        result = read(pending.order_id, json_values.mapping(json_values.json_or_none(pending.body.encode())))
        return ResultStateMachine(context, pending, result, lease).run()
    except LeaseLostError:
        raise
    except Exception as error:
        if is_database_trouble(error):
            raise
        return postpone_or_quarantine(context, pending, lease, error, failed)
