"""history: reads each store's orders in windows of at most 60 days, page by page, and records the orders without an event.

A page and its cursor are stored in one transaction. If a process dies anywhere, the next one goes on with the same page.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync import metrics
from shelfsync.errors import DataError, TryAgainError
from shelfsync.orders.encryption import CustomerCipher
from shelfsync.orders.ledger import history_window as order_history
from shelfsync.orders.ledger import order_gaps
from shelfsync.orders.steps.apply import ReceivedOrder, apply_each
from shelfsync.orders.warehouse.record import forget_customers
from shelfsync.store.engine import reason
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from sqlalchemy.engine import Connection

    from partner_api.order import OrderPage
    from shelfsync.context import Context
    from shelfsync.orders.ledger.history_window import HistoryWindow
    from shelfsync.orders.order_state import OrderState

log = logging.getLogger(__name__)

REACH = dt.timedelta(days=60)
"""The range that the platform returns, and the longest window that it accepts (interface.md 4.10)."""


def history(context: Context, vendors: Iterable[str] = ()) -> dict[str, Any]:
    """Reads the history of all stores, the least recently read first, up to the page limit of a run.

    Returns `{"vendors", "pages", "orders", "unreadable", "gaps", "left", "forgotten", "failed": {vendor: why}}`. A failed store
    stops no other. An order that cannot be applied is `unreadable`; its reason stays with its store until the next good page.
    """
    counts: dict[str, Any] = dict.fromkeys(("vendors", "pages", "orders", "unreadable", "gaps", "left"), 0)
    counts["failed"] = {}
    with context.engine.begin() as connection:
        names = list(vendors) or order_history.vendors(connection, context.settings.sync.vendors)
        counts["forgotten"] = forget_customers(connection)
        queue = order_history.least_recently_read_first(connection, names)
    for number, vendor in enumerate(queue):
        if counts["pages"] >= context.settings.orders.history_requests_max:
            counts["left"] = len(queue) - number
            break
        try:
            done = _read_vendor(context, vendor, counts)
        except TryAgainError as error:
            log.info("history: vendor %s: %s", vendor, error)
            counts["left"] = (
                len(queue) - number
            )  # the rate limit has no permit now; the next run goes on with this page
            break
        except Exception as error:  # noqa: BLE001  one store stops no other, whatever it raises
            counts["failed"][vendor] = why = reason(error)
            log.warning("history: vendor %s: %s", vendor, why)
            with context.engine.begin() as connection:
                order_history.record_failure(connection, vendor, why)
        else:
            counts["vendors"] += done
            counts["left"] += not done
    metrics.count("history.orders", counts["orders"])
    metrics.count("history.gaps", counts["gaps"])
    return counts


def _read_vendor(context: Context, vendor: str, counts: dict[str, Any]) -> bool:
    """Reads windows until the store is read up to now; False if the page limit of the run is reached before."""
    settings = context.settings.orders
    while True:
        with context.engine.begin() as connection:
            window = order_history.open_window(
                connection,
                vendor,
                reach=REACH,
                longest=dt.timedelta(days=settings.history_window_days),
                overlap=dt.timedelta(hours=settings.history_overlap_hours),
                lag=dt.timedelta(seconds=settings.history_lag_s),
            )
        if window is None:
            return True
        finished = False
        while not finished:
            if counts["pages"] >= settings.history_requests_max:
                return False
            page = context.open_platform().list_orders(
                vendor, window.start, window.end, window.next_page, settings.history_page_size, priority="history"
            )
            counts["pages"] += 1
            window, finished = _land(context, window, page, counts)
        if window.is_last:
            return True


def _land(
    context: Context, window: HistoryWindow, page: OrderPage, counts: dict[str, Any]
) -> tuple[HistoryWindow, bool]:
    """Stores the orders of a page and moves the cursor; returns (the window now, whether it is finished)."""
    with context.engine.begin() as connection:
        now = order_history.lock(connection, window)
        if now is None:
            raise TryAgainError(f"vendor {window.vendor}: another process reads its history", after_s=60)
        digest = _digest(page)
        fault = _page_fault(window, page)
        if fault is None and page.orders and digest == now.page_digest:
            fault = f"page {window.next_page} repeats the one before it"
        if fault is not None:
            order_history.restart_window(connection, window.vendor, fault)
        else:
            states, unreadable = _apply(context, connection, page)
            counts["orders"] += len(states)
            counts["unreadable"] += len(unreadable)
            first_event_at = order_gaps.first_event_at(connection)
            for state in states:
                counts["gaps"] += order_gaps.record_gap(
                    connection,
                    state.order_id,
                    vendor=state.vendor or window.vendor,
                    placed_at=state.placed_at,
                    status=state.status,
                    first_event_at=first_event_at,
                )
            finished = page.total_pages is None and not page.orders
            finished = finished or (page.total_pages is not None and window.next_page >= page.total_pages)
            if finished:
                order_history.close_window(connection, window)
            else:
                window = order_history.next_page(connection, window, page.total_pages, digest)
            if unreadable:
                order_history.record_failure(connection, window.vendor, unreadable[0])
    if fault is not None:
        raise DataError(
            f"vendor {window.vendor}: its history cannot be trusted: {fault}. The window is read again from its first page."
        )
    return window, finished


def _apply(context: Context, connection: Connection, page: OrderPage) -> tuple[Collection[OrderState], list[str]]:
    """(orders as they are now, why others of the page are not applied)."""
    received: list[ReceivedOrder] = []
    unreadable: list[str] = []
    received_at = connection.execute(sa.select(instant())).scalar_one()
    for order in page.orders:
        try:
            received.append(ReceivedOrder.parse(order.raw, "history", received_at))
        except Exception as error:  # noqa: BLE001  one faulty order stops no other, whatever it raises
            unreadable.append(reason(error))
    now, failed = apply_each(context, connection, received, CustomerCipher(context.settings.orders))
    unreadable += [why for _, why in failed]
    for why in unreadable:
        log.error("history: an order cannot be applied: %s", why)
    return now.values(), unreadable


def _digest(page: OrderPage) -> str:
    """A hash of the orders and their sequence."""
    return hashlib.sha256("\n".join(order.order_id or "" for order in page.orders).encode()).hexdigest()


def _page_fault(window: HistoryWindow, page: OrderPage) -> str | None:
    """Why this page may be another one than requested, or incomplete; None: it is right."""
    asked = window.next_page
    if page.page_number is not None and page.page_number != asked:
        return f"page {asked} was requested and {page.page_number} received"
    if window.pages is not None and page.total_pages is not None and page.total_pages != window.pages:
        return f"it had {window.pages} pages at first and {page.total_pages} at page {asked}"
    if page.total_pages is not None and not page.orders and asked < page.total_pages:
        return f"page {asked} of {page.total_pages} was empty"
    return None
