"""hand_over: stores are told of new and cancelled orders and of what became of their results; at least once, oldest first."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from partner_api.errors import InvalidRequestError, NotFoundError, PartnerError, UnexpectedAnswerError
from shelfsync.errors import DataError, ShelfsyncError
from shelfsync.flow.orders.apply import current
from shelfsync.flow.orders.patience import Patience
from shelfsync.flow.orders.read_back import read_back
from shelfsync.flow.orders.seal import Seal
from shelfsync.handover.outlet import Document, open_outlet
from shelfsync.ledger import handovers, orders, picking
from shelfsync.ledger.faults import reason
from shelfsync.orders.document import document, needed
from shelfsync.orders.reading import as_json
from shelfsync.warehouse.orders import sealed_customer

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts
    from shelfsync.handover.outlet import Outlet
    from shelfsync.ledger.handovers import HandOver

log = logging.getLogger(__name__)

AT_ONCE = 500
"""Hand-overs a run (those left out for now not counted), and looked at together; the next run comes within the minute."""
_PAUSE_MAX_S = 300.0
_OF_ONE_ORDER = (NotFoundError, InvalidRequestError, UnexpectedAnswerError, DataError)


def hand_over(parts: Parts, *, at_once: int = AT_ONCE) -> dict[str, Any]:
    """Plans and writes what stores have to be told, and finds out what they have taken.

    `{"planned", "written", "taken", "dropped", "left", "failed": {hand_over_id: why}}`. One that fails stops no other; `left`: what was
    seen and not tried, mostly because a store's system, or all of them, took too long (`Patience`). The next run goes on with it.
    """
    told: dict[str, Any] = {"planned": 0, "written": 0, "taken": 0, "dropped": 0, "left": 0, "failed": {}}
    patience = Patience(parts.clock)
    outlet = open_outlet(parts.settings)
    if outlet is None:
        return told
    try:
        _ask_whose(parts)
        with parts.engine.begin() as connection:
            late_h = parts.settings.orders.late_h
            told["planned"] = handovers.plan(connection, late_h=late_h)
            told["dropped"] = handovers.drop_overtaken(connection) + handovers.drop_late(connection, late_h=late_h)
        _write_all(parts, outlet, patience, told, at_once)
        if not patience.is_broken():
            told["taken"] = _find_taken(parts, outlet, at_once)
    finally:
        outlet.close()
    return told


def _write_all(parts: Parts, outlet: Outlet, patience: Patience, told: dict[str, Any], at_once: int) -> None:
    """Oldest first, past the stores that hang: however much waits for them, what is behind it has its turn."""
    tried, behind, is_more = 0, 0, True
    while is_more and tried < at_once and patience.lasts():
        with parts.engine.connect() as connection:
            waiting = handovers.due(connection, at_most=at_once, behind=behind)
        is_more = len(waiting) == at_once
        for one in waiting:
            behind = one.hand_over_id
            if tried >= at_once or not patience.lasts() or not patience.has_time_for(one.vendor):
                told["left"] += 1
                continue
            tried += 1
            try:
                told["written"] += _write(parts, outlet, patience, one)
            except Exception as error:  # noqa: BLE001  one document stops no other, whatever it raises
                told["failed"][str(one.hand_over_id)] = why = reason(error)
                log.warning("hand_over: order %s: %s", one.order_id, why)
                with parts.engine.begin() as connection:
                    handovers.postponed(connection, one.hand_over_id, why, after_s=_pause_s(parts, one))
    if told["left"]:
        log.warning("hand_over: %d documents are left for the next run: this one's patience was used up", told["left"])


def _ask_whose(parts: Parts) -> None:
    """An open order that names no store goes to none: the platform is asked, now and then, until it says whose it is.

    What it does not know, or tells of as nobody can read it, concerns that order alone; any other failure concerns all, and ends the asking.
    """
    with parts.engine.connect() as connection:
        names = handovers.storeless(connection, again_after_s=_PAUSE_MAX_S, at_most=AT_ONCE)
    for order_id in names:
        try:
            read_back(parts, order_id)
        except Exception as error:  # noqa: BLE001  one order stops no other, whatever it raises
            why = reason(error)
            log.warning("hand_over: order %s names no store, and the platform was asked in vain: %s", order_id, why)
            its_own = isinstance(error, _OF_ONE_ORDER) or not isinstance(error, PartnerError | ShelfsyncError)
            with parts.engine.begin() as connection:
                orders.was_asked_in_vain(connection, order_id, again_after_s=_PAUSE_MAX_S if its_own else 0)
            if not its_own:
                return


def _write(parts: Parts, outlet: Outlet, patience: Patience, one: HandOver) -> bool:
    """True when the store can see it now. A new order is read back before any store sees it."""
    if one.kind == "new" and one.attempts == 0 and parts.settings.orders.read_new and not one.read_lately:
        read_back(parts, one.order_id)
    with parts.engine.begin() as connection:
        handovers.drop_overtaken(connection)
        if not handovers.trying(connection, one.hand_over_id, again_after_s=_pause_s(parts, one)):
            return False
        paper = _document(parts, connection, one)
    with patience.calling(one.vendor):
        taken = outlet.write(paper)
    with parts.engine.begin() as connection:
        handovers.was_written(connection, one.hand_over_id, taken=taken)
    return True


def _document(parts: Parts, connection: Connection, one: HandOver) -> Document:
    now = current(connection, one.order_id)
    assert now is not None, "an order that is handed over was told of"
    if one.kind == "reply":
        number = {"hand_over_id": one.hand_over_id, "vendor": now.vendor, "order_code": now.order_code}
        told = picking.reply(connection, one.result_no) | number
    else:
        settings = parts.settings.orders
        personal = Seal(settings).open(sealed_customer(connection, one.order_id)) if settings.hand_over_customer else {}
        told = document(now, one.kind, one.hand_over_id, needed(now, personal) if one.kind == "new" else {})
    return Document(one.hand_over_id, one.order_id, one.kind, now.vendor or "", as_json(told))


def _find_taken(parts: Parts, outlet: Outlet, at_once: int) -> int:
    """Looks at all that stores can see, in parts: what one never takes hides nothing that another takes."""
    taken, behind, is_more = 0, 0, True
    while is_more:
        with parts.engine.connect() as connection:
            written = handovers.written(connection, at_most=at_once, behind=behind)
        if not written:
            break
        behind, is_more = written[-1].hand_over_id, len(written) == at_once
        try:
            numbers = outlet.taken([(one.hand_over_id, one.vendor or "", one.kind) for one in written])
        except ShelfsyncError as error:
            log.warning("hand_over: what stores have taken cannot be seen: %s", error)
            break
        with parts.engine.begin() as connection:
            taken += handovers.were_taken(connection, numbers)
    return taken


def _pause_s(parts: Parts, one: HandOver) -> float:
    attempts = max(one.attempts, one.looks)
    return float(min(_PAUSE_MAX_S, parts.settings.orders.retry_first_s * 2.0 ** min(attempts, 10)))
