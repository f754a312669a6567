"""How far each store's order history is known, and what it told that no event had told."""

from __future__ import annotations

import dataclasses
import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.ledger.instant import instant
from shelfsync.ledger.order_tables import customer_order, order_day, order_gap, order_history, order_version
from shelfsync.ledger.tables import vendor as catalog_vendor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection


_EDGE = dt.timedelta(days=1)
_GONE = dt.timedelta(minutes=10)
"""The platform's clock is not ours: so close to the end of its reach, what is old may be gone."""


@dataclass(frozen=True)
class Reading:
    """A window of one store and the page to read next. `is_last`: it ends at the present."""

    vendor: str
    start: dt.datetime
    end: dt.datetime
    next_page: int
    pages: int | None
    is_last: bool


def vendors(connection: Connection, wanted: Sequence[str]) -> list[str]:
    """The stores whose history is kept: those that are wanted, or all that catalog and orders know."""
    if wanted:
        return sorted(wanted)
    known = sa.union(
        sa.select(catalog_vendor.c.vendor),
        sa.select(customer_order.c.vendor).where(customer_order.c.vendor.is_not(None)).distinct(),
    )
    return sorted(connection.execute(known).scalars())


def longest_ago_first(connection: Connection, names: Sequence[str]) -> list[str]:
    """In the order in which they should be read."""
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
) -> Reading | None:
    """The window under way, or a new one from the watermark (less the overlap) on; None when nothing is to be read yet.

    `reach`: as far as the platform looks back. A new window keeps a day's distance from that, because pages would shift under us
    when orders leave it; a window that has come to lie outside is given up: what is lost of it is lost.
    """
    connection.execute(insert(order_history).values(vendor=vendor).on_conflict_do_nothing())
    row = _row(connection, vendor)
    now = connection.execute(
        sa.select(sa.func.date_trunc("second", instant()))
    ).scalar_one()  # as fine as it can be asked for
    latest = now - lag
    if row.window_start is not None and row.window_start >= now - reach + _GONE:
        last = row.window_end >= latest - overlap
        return Reading(vendor, row.window_start, row.window_end, row.next_page, row.pages, last)
    earliest = now - reach + _EDGE
    start = earliest if row.covered_to is None else max(earliest, row.covered_to - overlap)
    if start >= latest:
        return None
    end = min(latest, max(start + longest, (row.covered_to or start) + _EDGE), start + reach)
    connection.execute(
        order_history.update()
        .where(order_history.c.vendor == vendor)
        .values(window_start=start, window_end=end, next_page=1, pages=None, page_digest=None)
    )
    return Reading(vendor, start, end, 1, None, is_last=end == latest)


def lock(connection: Connection, reading: Reading) -> Any | None:
    """The row, held; None when it is no longer at this page of this window."""
    row = _row(connection, reading.vendor)
    same = (row.window_start, row.window_end, row.next_page) == (reading.start, reading.end, reading.next_page)
    return row if same else None


def next_page(connection: Connection, reading: Reading, pages: int | None, digest: str) -> Reading:
    """Behind a page that was landed."""
    values = {
        "next_page": reading.next_page + 1,
        "pages": pages,
        "page_digest": digest,
        "read_at": instant(),
        "error": None,
    }
    connection.execute(order_history.update().where(order_history.c.vendor == reading.vendor).values(values))
    return dataclasses.replace(reading, next_page=reading.next_page + 1, pages=pages)


def close_window(connection: Connection, reading: Reading) -> None:
    """The window is read whole: the watermark moves, and its days are counted."""
    values = {
        "covered_to": sa.func.greatest(sa.func.coalesce(order_history.c.covered_to, reading.end), reading.end),
        "window_start": None,
        "window_end": None,
        "next_page": 1,
        "pages": None,
        "page_digest": None,
        "tries": 0,
        "read_at": instant(),
        "error": None,
    }
    connection.execute(order_history.update().where(order_history.c.vendor == reading.vendor).values(values))
    _count_days(connection, reading)


def begin_again(connection: Connection, vendor: str, why: str) -> None:
    """The window from its first page, by the next run."""
    values = {
        "next_page": 1,
        "pages": None,
        "page_digest": None,
        "tries": order_history.c.tries + 1,
        "error": why,
        "read_at": instant(),
    }
    connection.execute(order_history.update().where(order_history.c.vendor == vendor).values(values))


def broke_off(connection: Connection, vendor: str, why: str) -> None:
    """The reading failed; other stores go first the next time."""
    values = {"error": why, "read_at": instant()}
    connection.execute(order_history.update().where(order_history.c.vendor == vendor).values(values))


def first_event() -> sa.Select[Any]:
    """When the first event ever came, as a statement of one value: what was placed before was there before we were.

    `event` stands in its text, because a plan for any source could not use the index of events.
    """
    return sa.select(sa.func.min(order_version.c.seen_at)).where(order_version.c.source == sa.literal_column("'event'"))


def first_event_at(connection: Connection) -> dt.datetime | None:
    """The same, asked; None when none has come."""
    told: dt.datetime | None = connection.execute(first_event()).scalar_one()
    return told


def note_gap(
    connection: Connection,
    order_id: str,
    *,
    vendor: str,
    placed_at: dt.datetime | None,
    status: str,
    first_event_at: dt.datetime | None,
) -> bool:
    """An order of which no event has come; True when it is a new one. What is older than the first event ever is no gap."""
    if first_event_at is None or placed_at is None or placed_at < first_event_at:
        return False
    mine = sa.select(order_version.c.version_id).where(
        order_version.c.order_id == order_id, order_version.c.source == "event"
    )
    if connection.execute(mine.limit(1)).one_or_none() is not None:
        return False
    values = {
        "order_id": order_id,
        "vendor": vendor,
        "placed_at": placed_at,
        "status": status,
        "found_at": instant(),
    }
    made = insert(order_gap).values(values).on_conflict_do_nothing().returning(order_gap.c.order_id)
    return connection.execute(made).one_or_none() is not None


def standing(connection: Connection) -> Sequence[Any]:
    """(vendor, covered_to, behind_s, error) of every store, the furthest behind first.

    `behind_s` counts from the watermark, and not from before the history was first asked for: what was lost by then is nobody's failure.
    """
    behind = sa.extract("epoch", instant() - sa.func.greatest(order_history.c.covered_to, order_history.c.since))
    found = sa.select(
        order_history.c.vendor, order_history.c.covered_to, behind.label("behind_s"), order_history.c.error
    )
    return connection.execute(found.order_by(behind.desc().nulls_first(), order_history.c.vendor)).all()


def gaps(connection: Connection, *, days: int) -> list[dict[str, Any]]:
    """(vendor, day, in_history, in_inbox, repaired) of the last days on which orders came that no event told of."""
    recent = order_day.c.day > sa.cast(sa.func.timezone("UTC", instant()), sa.Date) - days
    found = sa.select(order_day).where(recent, order_day.c.repaired > 0)
    rows = connection.execute(found.order_by(order_day.c.day.desc(), order_day.c.vendor).limit(200))
    return [dict(row) for row in rows.mappings()]


def _row(connection: Connection, vendor: str) -> Any:
    return connection.execute(sa.select(order_history).where(order_history.c.vendor == vendor).with_for_update()).one()


def _count_days(connection: Connection, reading: Reading) -> None:
    """Every day that the window touches; a day is counted anew by each window that touches it."""
    day = sa.cast(sa.func.timezone("UTC", customer_order.c.placed_at), sa.Date)
    told = order_version.alias("told")
    by = {
        source: sa.exists().where(told.c.order_id == customer_order.c.order_id, told.c.source == source)
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
            customer_order.c.vendor == reading.vendor,
            customer_order.c.placed_at >= sa.func.date_trunc("day", reading.start, "UTC"),
            customer_order.c.placed_at <= reading.end,
            by["history"],
        )
        .group_by(customer_order.c.vendor, day)
    )
    made = insert(order_day).from_select(["vendor", "day", "in_history", "in_inbox", "repaired", "counted_at"], counted)
    names = ("in_history", "in_inbox", "repaired", "counted_at")
    connection.execute(
        made.on_conflict_do_update(
            index_elements=[order_day.c.vendor, order_day.c.day], set_={name: made.excluded[name] for name in names}
        )
    )
