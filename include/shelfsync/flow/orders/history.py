"""history: each store's orders by windows of at most 60 days, page by page, and the ledger of what no event had told.

A page is landed in the transaction that moves the cursor: a process may die anywhere, and the next one goes on with the same page.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import logging
from typing import TYPE_CHECKING, Any

from shelfsync import metrics
from shelfsync.errors import DataError, TryAgainError
from shelfsync.flow.orders.apply import Telling, apply_each
from shelfsync.flow.orders.seal import Seal
from shelfsync.ledger import order_history
from shelfsync.ledger.faults import reason
from shelfsync.warehouse.orders import forget_customers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from sqlalchemy.engine import Connection

    from partner_api.models.order import OrderPage
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.order_history import Reading
    from shelfsync.orders.state import OrderState

log = logging.getLogger(__name__)

REACH = dt.timedelta(days=60)
"""As far as the platform looks back, and the longest range that it answers (interface.md 4.10)."""


def history(parts: Parts, vendors: Iterable[str] = ()) -> dict[str, Any]:
    """Reads on, the stores read longest ago first, until all are read or the run's pages are used up.

    `{"vendors", "pages", "orders", "unreadable", "gaps", "left", "forgotten", "failed": {vendor: why}}`. A store that fails stops no other,
    and neither does an order: it is `unreadable`, and its reason stands with its store until a page without such an order is read.
    """
    told: dict[str, Any] = {"vendors": 0, "pages": 0, "orders": 0, "unreadable": 0, "gaps": 0, "left": 0, "failed": {}}
    with parts.engine.begin() as connection:
        names = list(vendors) or order_history.vendors(connection, parts.settings.sync.vendors)
        told["forgotten"] = forget_customers(connection)
        queue = order_history.longest_ago_first(connection, names)
    for number, vendor in enumerate(queue):
        if told["pages"] >= parts.settings.orders.history_requests_max:
            told["left"] = len(queue) - number
            break
        try:
            done = _read_vendor(parts, vendor, told)
        except TryAgainError as error:
            log.info("history: vendor %s: %s", vendor, error)
            told["left"] = len(queue) - number  # the budget has no room now; the next run goes on with this page
            break
        except Exception as error:  # noqa: BLE001  one store stops no other, whatever it raises
            told["failed"][vendor] = why = reason(error)
            log.warning("history: vendor %s: %s", vendor, why)
            with parts.engine.begin() as connection:
                order_history.broke_off(connection, vendor, why)
        else:
            told["vendors"] += done
            told["left"] += not done
    metrics.count("history.orders", told["orders"])
    metrics.count("history.gaps", told["gaps"])
    return told


def _read_vendor(parts: Parts, vendor: str, told: dict[str, Any]) -> bool:
    """Reads windows until the store is read up to now; False when the run's pages are used up before."""
    settings = parts.settings.orders
    while True:
        with parts.engine.begin() as connection:
            reading = order_history.open_window(
                connection,
                vendor,
                reach=REACH,
                longest=dt.timedelta(days=settings.history_window_days),
                overlap=dt.timedelta(hours=settings.history_overlap_h),
                lag=dt.timedelta(seconds=settings.history_lag_s),
            )
        if reading is None:
            return True
        finished = False
        while not finished:
            if told["pages"] >= settings.history_requests_max:
                return False
            page = parts.open_platform().list_orders(
                vendor, reading.start, reading.end, reading.next_page, settings.history_page_size, lane="history"
            )
            told["pages"] += 1
            reading, finished = _land(parts, reading, page, told)
        if reading.is_last:
            return True


def _land(parts: Parts, reading: Reading, page: OrderPage, told: dict[str, Any]) -> tuple[Reading, bool]:
    """The page's orders, and the cursor behind it; (where the reading is now, whether the window is done)."""
    with parts.engine.begin() as connection:
        now = order_history.lock(connection, reading)
        if now is None:
            raise TryAgainError(f"vendor {reading.vendor}: another process reads its history", after_s=60)
        digest = _digest(page)
        doubt = _doubt(reading, page)
        if doubt is None and page.orders and digest == now.page_digest:
            doubt = f"page {reading.next_page} repeats the one before it"
        if doubt is not None:
            order_history.begin_again(connection, reading.vendor, doubt)
            fault: str | None = doubt
        else:
            fault = None
            states, unreadable = _apply(parts, connection, page)
            told["orders"] += len(states)
            told["unreadable"] += len(unreadable)
            first_event_at = order_history.first_event_at(connection)
            for state in states:
                told["gaps"] += order_history.note_gap(
                    connection,
                    state.order_id,
                    vendor=state.vendor or reading.vendor,
                    placed_at=state.placed_at,
                    status=state.status,
                    first_event_at=first_event_at,
                )
            finished = page.total_pages is None and not page.orders
            finished = finished or (page.total_pages is not None and reading.next_page >= page.total_pages)
            if finished:
                order_history.close_window(connection, reading)
            else:
                reading = order_history.next_page(connection, reading, page.total_pages, digest)
            if unreadable:
                order_history.broke_off(connection, reading.vendor, unreadable[0])
    if fault is not None:
        raise DataError(
            f"vendor {reading.vendor}: its history cannot be trusted: {fault}. The window is read again from its first page."
        )
    return reading, finished


def _apply(parts: Parts, connection: Connection, page: OrderPage) -> tuple[Collection[OrderState], list[str]]:
    """(orders as they are now, why others of the page are not applied)."""
    tellings: list[Telling] = []
    unreadable: list[str] = []
    for order in page.orders:
        try:
            tellings.append(Telling.of(order.raw, "history"))
        except Exception as error:  # noqa: BLE001  one strange order stops no other, whatever it raises
            unreadable.append(reason(error))
    now, failed = apply_each(parts, connection, tellings, Seal(parts.settings.orders))
    unreadable += [why for _, why in failed]
    for why in unreadable:
        log.error("history: an order cannot be applied: %s", why)
    return now.values(), unreadable


def _digest(page: OrderPage) -> str:
    """The same for the same orders in the same places."""
    return hashlib.sha256("\n".join(order.order_id or "" for order in page.orders).encode()).hexdigest()


def _doubt(reading: Reading, page: OrderPage) -> str | None:
    """Why this page may not be the one that was asked for, or not the whole of it."""
    asked = reading.next_page
    if page.page_number is not None and page.page_number != asked:
        return f"page {asked} was asked for and {page.page_number} came"
    if reading.pages is not None and page.total_pages is not None and page.total_pages != reading.pages:
        return f"it had {reading.pages} pages at first and {page.total_pages} at page {asked}"
    if page.total_pages is not None and not page.orders and asked < page.total_pages:
        return f"page {asked} of {page.total_pages} was empty"
    return None
