"""fulfil: what stores said becomes requests; each is checked here first, left a trace before it leaves, and read back before a second try.

A failure on our side changes nothing about an order: it stays what it is, and its result is tried again (I18).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from partner_api import reading
from partner_api.errors import MisconfiguredError, PartnerError
from shelfsync.errors import ConfigurationError, ShelfsyncError, TryAgainError
from shelfsync.flow.orders.course import Course
from shelfsync.ledger import picking
from shelfsync.ledger.faults import is_database_trouble, reason
from shelfsync.ledger.leases import LeaseLostError, leased
from shelfsync.orders.result import read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.leases import Lease
    from shelfsync.ledger.picking import Result

log = logging.getLogger(__name__)

AT_ONCE = 500
TRIES = 5
"""So often a result is tried, at growing distances, that raises what shelfsync does not foresee; then it is set aside."""
_PAUSE_MAX_S = 300.0


def fulfil(parts: Parts, order_ids: Iterable[str] = ()) -> dict[str, Any]:
    """Goes on with every open result whose time has come (of these orders, if any are named).

    `{"done", "checked", "refused", "overtaken", "answered", "later", "set_aside", "failed": {order_id: why}}`. One that fails stops no
    other, whatever it raises; what no repetition mends (credentials, settings) stands in `failed`.
    """
    told: dict[str, Any] = {
        **dict.fromkeys(("done", "checked", "refused", "overtaken", "answered", "later", "set_aside"), 0),
        "failed": {},
    }
    seen: set[int] = set()
    wanted = list(order_ids)
    while len(seen) < AT_ONCE:
        with parts.engine.connect() as connection:
            waiting = [
                one for one in picking.due(connection, at_most=AT_ONCE, order_ids=wanted) if one.result_no not in seen
            ]
        if not waiting:
            break  # the next result of an order becomes the first when the one before it has ended
        for one in waiting:
            seen.add(one.result_no)
            if (word := _alone(parts, one, told["failed"])) is not None:
                told[word] += 1
    return told


def _alone(parts: Parts, one: Result, failed: dict[str, str]) -> str | None:
    """The state it has then, or later; None while another process works on the order, or has gone past this result."""
    with leased(parts.engine, lease_name(one.order_id), parts.settings.sync.lease_s) as lease:
        if lease is None:
            return None
        with parts.engine.connect() as connection:
            mine = picking.due(connection, at_most=1, result_no=one.result_no)
        try:
            return _go_on(parts, mine[0], lease, failed) if mine else None
        except LeaseLostError as lost:
            log.warning("fulfil: order %s: %s", one.order_id, lost)
            return "later"


def lease_name(order_id: str) -> str:
    """Under which the results of an order are worked on."""
    return f"order:{order_id}"


def _go_on(parts: Parts, one: Result, lease: Lease, failed: dict[str, str]) -> str:
    """The state it has now, or later."""
    try:
        result = read(one.order_id, reading.mapping(reading.json_or_none(one.body.encode())))
        return Course(parts, one, result, lease).run()
    except LeaseLostError:
        raise
    except Exception as error:
        if is_database_trouble(error):
            raise
        why, foreseen = reason(error), isinstance(error, PartnerError | ShelfsyncError)
        log.log(logging.WARNING if foreseen else logging.ERROR, "fulfil: order %s: %s", one.order_id, why)
        if isinstance(error, MisconfiguredError | ConfigurationError):
            failed[one.order_id] = why
        with parts.engine.begin() as connection:
            if not foreseen and one.looks + 1 >= TRIES:
                picking.set_aside(connection, lease, one.result_no, why)
                return "set_aside"
            picking.postponed(connection, lease, one.result_no, why, after_s=_pause_s(parts, one, error))
        return "later"


def _pause_s(parts: Parts, one: Result, error: Exception) -> float:
    named = error.after_s if isinstance(error, TryAgainError) else getattr(error, "retry_after_s", None) or 0.0
    return float(max(named, min(_PAUSE_MAX_S, parts.settings.orders.retry_first_s * 2.0 ** min(one.looks, 10))))
