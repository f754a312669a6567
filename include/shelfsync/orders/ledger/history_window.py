"""The order history of each store: how far it is read, and the orders in it that have no event."""

from __future__ import annotations

import dataclasses
import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.catalog.assortment.state import every_vendor, forgotten_vendors
from shelfsync.orders.ledger.tables import customer_order, order_day, order_gap, order_history, order_version
from shelfsync.store.bulk import among
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection


_EDGE = dt.timedelta(days=1)
_GONE = dt.timedelta(minutes=10)
"""A margin for the platform's clock: orders this close to the end of its range may be gone."""
_FIRST_PAGE: dict[str, Any] = {"next_page": 1, "pages": None, "page_digest": None}


@dataclass(frozen=True)
class HistoryWindow:
    """A time window of one store and the page to read next. `is_last`: the window ends at the present."""

    vendor: str
    start: dt.datetime
    end: dt.datetime
    next_page: int
    pages: int | None
    is_last: bool


def vendors(connection: Connection, wanted: Sequence[str]) -> list[str]:
    """The stores whose history is read: the wanted ones, or all stores of catalog and orders but those that a person has taken out."""
    if wanted:
        return sorted(wanted)
    ordered = sa.select(customer_order.c.vendor).where(customer_order.c.vendor.is_not(None)).distinct()
    found = {*every_vendor(connection), *connection.execute(ordered).scalars()}
    return sorted(found - forgotten_vendors(connection))


def least_recently_read_first(connection: Connection, names: Sequence[str]) -> list[str]:
    """The stores in the order of reading."""
    rows = connection.execute(sa.select(order_history.c.vendor, order_history.c.read_at))
    read_at = {row.vendor: row.read_at for row in rows}
    return sorted(names, key=lambda name: (read_at.get(name) is not None, read_at.get(name), name))


def open_window(
    connection: Connection,
    vendor: str,
    *,
    reach: dt.timedelta,
    longest: dt.timedelta,
    overlap: dt.timedelta,
    lag: dt.timedelta,
) -> HistoryWindow | None:
    """The open window, or a new one from the watermark less the overlap; None if there is nothing to read yet.

    `reach`: the range that the platform returns. A new window starts a day after its begin, because pages shift when orders
    leave the range. A window that is out of range is given up; its remaining orders are lost.
    """
    connection.execute(insert(order_history).values(vendor=vendor).on_conflict_do_nothing())
    row = _row(connection, vendor)
    now = connection.execute(
        sa.select(sa.func.date_trunc("second", instant()))
    ).scalar_one()  # the precision of a request
    latest = now - lag
    if row.window_start is not None and row.window_start >= now - reach + _GONE:
        last = row.window_end >= latest - overlap
        return HistoryWindow(vendor, row.window_start, row.window_end, row.next_page, row.pages, last)
    earliest = now - reach + _EDGE
    start = earliest if row.covered_to is None else max(earliest, row.covered_to - overlap)
    if start >= latest:
        return None
    end = min(latest, max(start + longest, (row.covered_to or start) + _EDGE), start + reach)
    connection.execute(
        order_history.update()
        .where(order_history.c.vendor == vendor)
        .values(window_start=start, window_end=end, **_FIRST_PAGE)
    )
    return HistoryWindow(vendor, start, end, 1, None, is_last=end == latest)


def lock(connection: Connection, window: HistoryWindow) -> Any | None:
    """The locked row; None if it is no longer at this page of this window."""
    row = _row(connection, window.vendor)
    same = (row.window_start, row.window_end, row.next_page) == (window.start, window.end, window.next_page)
    return row if same else None


def next_page(connection: Connection, window: HistoryWindow, pages: int | None, digest: str) -> HistoryWindow:
    """Moves the cursor past a stored page."""
    _note_reading(
        connection, window.vendor, next_page=window.next_page + 1, pages=pages, page_digest=digest, error=None
    )
    return dataclasses.replace(window, next_page=window.next_page + 1, pages=pages)


def close_window(connection: Connection, window: HistoryWindow) -> None:
    """Ends a completely read window: moves the watermark and counts the days."""
    covered_to = sa.func.greatest(sa.func.coalesce(order_history.c.covered_to, window.end), window.end)
    ended = {"window_start": None, "window_end": None, "tries": 0, "error": None}
    _note_reading(connection, window.vendor, covered_to=covered_to, **ended, **_FIRST_PAGE)
    _count_days(connection, window)


def restart_window(connection: Connection, vendor: str, why: str) -> None:
    """The next run reads the window again from its first page."""
    _note_reading(connection, vendor, tries=order_history.c.tries + 1, error=why, **_FIRST_PAGE)


def record_failure(connection: Connection, vendor: str, why: str) -> None:
    """Stores why the reading failed. The next run reads other stores first."""
    _note_reading(connection, vendor, error=why)


def _note_reading(connection: Connection, vendor: str, **values: Any) -> None:
    """Changes the row of a store that was read, or was tried to be read, just now."""
    of_store = order_history.update().where(order_history.c.vendor == vendor)
    connection.execute(of_store.values(read_at=instant(), **values))


def progress(connection: Connection, wanted: Sequence[str]) -> Sequence[Any]:
    """(vendor, covered_to, behind_s, error) of every store whose history is still read, the furthest behind first.

    `behind_s`: seconds since the watermark, or since the first reading if that is later.
    """
    behind = sa.extract("epoch", instant() - sa.func.greatest(order_history.c.covered_to, order_history.c.since))
    query = sa.select(
        order_history.c.vendor, order_history.c.covered_to, behind.label("behind_s"), order_history.c.error
    ).where(sa.not_(among(order_history.c.vendor, forgotten_vendors(connection))))
    if wanted:
        query = query.where(among(order_history.c.vendor, wanted))
    return connection.execute(query.order_by(behind.desc().nulls_first(), order_history.c.vendor)).all()


def _row(connection: Connection, vendor: str) -> Any:
    return connection.execute(sa.select(order_history).where(order_history.c.vendor == vendor).with_for_update()).one()


def _count_days(connection: Connection, window: HistoryWindow) -> None:
    """Counts every day that overlaps the window. Each window counts its days again."""
    day = sa.cast(sa.func.timezone("UTC", customer_order.c.placed_at), sa.Date)
    version = order_version.alias("version")
    by = {
        source: sa.exists().where(version.c.order_id == customer_order.c.order_id, version.c.source == source)
        for source in ("event", "history")
    }
    gap = sa.exists().where(order_gap.c.order_id == customer_order.c.order_id)
    counted = (
        sa.select(
            customer_order.c.vendor,
            day,
            sa.func.count(),
            sa.func.count().filter(by["event"]),
            sa.func.count().filter(gap, ~by["event"]),
            instant(),
        )
        .where(
            customer_order.c.vendor == window.vendor,
            customer_order.c.placed_at >= sa.func.date_trunc("day", window.start, "UTC"),
            customer_order.c.placed_at <= window.end,
            by["history"],
        )
        .group_by(customer_order.c.vendor, day)
    )
    insertion = insert(order_day).from_select(
        ["vendor", "day", "in_history", "in_inbox", "repaired", "counted_at"], counted
    )
    names = ("in_history", "in_inbox", "repaired", "counted_at")
    connection.execute(
        insertion.on_conflict_do_update(
            index_elements=[order_day.c.vendor, order_day.c.day],
            set_={name: insertion.excluded[name] for name in names},
        )
    )
