"""Feeds: what each extract of a vendor was like, so that the next one can be held against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.catalog.ledger import tables
from shelfsync.catalog.ledger.tables import vendor_run
from shelfsync.decisions.ledger.tables import hold
from shelfsync.decisions.state import HoldState, Subject
from shelfsync.store.bulk import among
from shelfsync.store.metadata import PAST_LAKE_FILE, boolean, instant, lake_file, metadata, moment, number, text

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection

    from sqlalchemy.engine import Connection

feed = sa.Table(
    "feed",
    metadata,
    text("vendor", "The vendor", sa.ForeignKey(tables.vendor.c.vendor), primary_key=True),
    number("generation", "Order of this extract among the vendor's", primary_key=True),
    number("run_id", "The run that read it", nullable=False),
    text(
        "snapshot_path", "Lake: its canonical rows; the same path is the same rows", nullable=False, info=PAST_LAKE_FILE
    ),
    number("rows", "Rows of the extract, those in quarantine too", nullable=False),
    lake_file(
        "unrestored_path",
        "Lake: what would be acknowledged of some SKUs without restorations; null: no restoration makes a difference",
    ),
    lake_file("categories_path", "Lake: SKU and its last known category; null: the ERP never had one"),
    boolean(
        "trusted",
        "False: a guard holds the whole extract without a decision, so later extracts are not compared with it",
        nullable=False,
    ),
    moment("read_at", "When the guards read it", nullable=False),
    sa.Index("ix_feed_vendor_snapshot_path", "vendor", "snapshot_path"),
    # An ERP without categories has none in any row: without this index each guard would look through all of the vendor's.
    sa.Index("ix_feed_categories", "vendor", "generation", postgresql_where=sa.text("categories_path IS NOT NULL")),
    schema="ledger",
    comment="One row a guarded extract of a vendor: what is usual",
)


@dataclass(frozen=True)
class Past:
    """What is known of the trusted extracts before one."""

    rows: tuple[int, ...]
    repeated_at: dt.datetime | None
    categories_path: str | None
    undone: tuple[str, ...] = ()
    """Lake: rows that a person let through in the last extract, and that this one may take back: it repeats the one before it."""
    unrestored_path: str | None = None
    """Lake: what would be acknowledged of some SKUs without restorations."""
    trusted_run: int | None = None
    """The run that read the last of them."""


_NEWEST_CHANGE = sa.text("""
SELECT max(last.read_at) FROM ledger.vendor AS v CROSS JOIN LATERAL (
    SELECT read_at, snapshot_path, lead(snapshot_path) OVER (ORDER BY generation DESC) AS before
    FROM (SELECT * FROM ledger.feed WHERE feed.vendor = v.vendor ORDER BY generation DESC LIMIT :readings) AS lately
) AS last WHERE last.snapshot_path <> last.before
""")


def newest_change(connection: Connection, *, readings: int = 100) -> dt.datetime | None:
    """When an extract of any vendor was read that differs from the vendor's one before; None: none of the last `readings` did."""
    return connection.execute(_NEWEST_CHANGE, {"readings": readings}).scalar_one_or_none()


def past(connection: Connection, run_id: int, names: Collection[str], *, feeds: int) -> dict[str, Past]:
    """By vendor: the last `feeds` trusted extracts before the run's, and whether its snapshot repeats one from before the last of them."""
    mine = sa.and_(feed.c.vendor == vendor_run.c.vendor, feed.c.generation < vendor_run.c.generation)

    def newest_first(*columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
        return sa.select(*columns).where(mine).order_by(feed.c.generation.desc()).correlate(vendor_run)

    last = newest_first(feed.c.snapshot_path, feed.c.run_id).where(feed.c.trusted).limit(1).lateral("last")
    snapshot_path = sa.func.coalesce(vendor_run.c.erp_path, vendor_run.c.snapshot_path)
    alike = newest_first(feed.c.generation, feed.c.read_at).where(feed.c.trusted, feed.c.snapshot_path == snapshot_path)
    again = alike.limit(1).lateral("again")
    statement = (
        sa.select(
            vendor_run.c.vendor,
            sa.func.array(newest_first(feed.c.rows).where(feed.c.trusted).limit(feeds).scalar_subquery()),
            sa.case((last.c.snapshot_path != snapshot_path, again.c.generation)),
            again.c.read_at,
            _newest_categories(mine).correlate(vendor_run),
            newest_first(feed.c.unrestored_path).limit(1).scalar_subquery(),
            last.c.run_id,
            last.c.snapshot_path,
        )
        .select_from(vendor_run)
        .outerjoin(last, sa.true())
        .outerjoin(again, sa.true())
        .where(vendor_run.c.run_id == run_id, among(vendor_run.c.vendor, names))
    )
    found = {}
    for name, rows, repeats, read_at, categories, unrestored, trusted, last_path in connection.execute(statement).all():
        undone = () if repeats is None else _approved_since(connection, run_id, name, repeats, last_path)
        repeated_at = None if repeats is None else read_at
        found[name] = Past(tuple(rows), repeated_at, categories, undone, unrestored, trusted)
    return found


def _approved_since(
    connection: Connection, run_id: int, vendor: str, generation: int, snapshot_path: str
) -> tuple[str, ...]:
    """Rows that were approved in the extracts after a generation, as long as all of them are this one snapshot."""
    this = sa.select(vendor_run.c.generation).where(vendor_run.c.run_id == run_id, vendor_run.c.vendor == vendor)
    mine = sa.and_(feed.c.vendor == vendor, feed.c.generation < this.scalar_subquery())
    others = sa.select(feed.c.generation).where(
        mine, feed.c.trusted, feed.c.generation > generation, feed.c.snapshot_path != snapshot_path
    )
    approved = (
        sa.select(hold.c.rows_path)
        .join(feed, sa.and_(feed.c.vendor == hold.c.vendor, feed.c.generation == hold.c.generation))
        .where(mine, hold.c.subject == Subject.CATALOG, hold.c.state == HoldState.APPROVED)
        .where(hold.c.generation > generation, sa.not_(others.exists()))
    )
    return tuple(sorted(set(connection.execute(approved).scalars())))


def newer(connection: Connection, vendor: str, generation: int) -> bool:
    """Whether the guards have read a newer extract."""
    statement = sa.select(feed.c.run_id).where(feed.c.vendor == vendor, feed.c.generation > generation)
    return connection.execute(statement.order_by(feed.c.generation.desc()).limit(1)).first() is not None


def is_unrestored(vendor: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """Whether the ERP's changes under a restoration are still followed, within a query."""
    newest = sa.select(feed.c.unrestored_path).where(feed.c.vendor == vendor).order_by(feed.c.generation.desc())
    return newest.limit(1).scalar_subquery().is_not(None)


def categories_of(connection: Connection, vendor: str) -> str | None:
    """Lake: SKU and its last known category; None: the ERP never had one."""
    return connection.execute(sa.select(_newest_categories(feed.c.vendor == vendor))).scalar_one()


def _newest_categories(mine: sa.ColumnElement[bool]) -> sa.ScalarSelect[str | None]:
    newest = sa.select(feed.c.categories_path).where(mine, feed.c.categories_path.is_not(None))
    return newest.order_by(feed.c.generation.desc()).limit(1).scalar_subquery()


def record(
    connection: Connection,
    vendor: str,
    generation: int,
    *,
    run_id: int,
    snapshot_path: str,
    rows: int,
    categories_path: str | None,
    trusted: bool,
    unrestored_path: str | None = None,
) -> None:
    """Writes the row of an extract; a repeat writes the same row."""
    values = {
        "run_id": run_id,
        "snapshot_path": snapshot_path,
        "rows": rows,
        "categories_path": categories_path,
        "trusted": trusted,
        "unrestored_path": unrestored_path,
        "read_at": instant(),
    }
    statement = insert(feed).values(vendor=vendor, generation=generation, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=[feed.c.vendor, feed.c.generation], set_=values))


def trust(connection: Connection, vendor: str, generation: int) -> None:
    """Records that a person approved the extract."""
    statement = feed.update().where(feed.c.vendor == vendor, feed.c.generation == generation)
    connection.execute(statement.values(trusted=True))
