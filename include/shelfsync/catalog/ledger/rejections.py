"""Rejections: SKUs that the platform rejects, with the values sent. For good until they change, or for now with growing waits."""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.catalog.ledger import tables, vendors
from shelfsync.catalog.rejection_retry import FOR_NOW, SHORTENED_MAX, RetryWaits
from shelfsync.store.bulk import among
from shelfsync.store.metadata import boolean, instant, line, metadata, moment, number, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.catalog.ledger.observations import Observation

_WANTED = ("barcode", "price", "quantity", "active", "max_sales_quantity")

rejection = sa.Table(
    "rejection",
    metadata,
    text("vendor", "The vendor", sa.ForeignKey(tables.vendor.c.vendor), primary_key=True),
    text("sku", "The SKU", primary_key=True),
    line("reason", "The platform's text", nullable=False),
    text(
        "kind",
        "Its meaning: unknown_sku, invalid_value or drifted (for good), for_now or unclear (for now)",
        nullable=False,
        server_default="unclear",
    ),
    text("barcode", "The barcode when the platform rejected it; null: unknown"),
    sa.Column("price", sa.Numeric(20, 3), comment="The ERP's value when the platform rejected it"),
    number("quantity", "The ERP's value when the platform rejected it"),
    boolean("active", "The ERP's value when the platform rejected it"),
    number("max_sales_quantity", "The ERP's value when the platform rejected it"),
    number(
        "job_id",
        "The job in which the platform rejected it last",
        sa.ForeignKey("ledger.job.job_id"),
        nullable=False,
        index=True,
    ),
    sa.Column("times", sa.Integer, nullable=False, server_default="1", comment="Number of rejections"),
    moment("first_at", "When the platform rejected it first", nullable=False, server_default=sa.text("now()")),
    moment("last_at", "When the platform rejected it last", nullable=False, server_default=sa.text("now()")),
    moment("next_try_at", "From then on a delta sends it again unchanged; null: only after its cause has gone"),
    text("released_by", "What released a rejection for good: export, listing or a person"),
    number("observation_id", "The newest observation that was checked for this SKU, so that none is checked twice"),
    sa.Index("ix_rejection_last_at", "last_at", "vendor", "sku"),
    sa.Index("ix_rejection_times", "times", "vendor", "sku"),
    sa.Index("ix_rejection_sku", "sku", postgresql_ops={"sku": "text_pattern_ops"}),
    sa.CheckConstraint("kind IN ('unknown_sku', 'invalid_value', 'drifted', 'for_now', 'unclear')", name="kind"),
    schema="ledger",
    comment="SKUs that the platform rejects: a delta does not repeat them until they are released; a full sync tries them once",
)

rejection_count = sa.Table(
    "rejection_count",
    metadata,
    text("vendor", "The vendor", sa.ForeignKey(tables.vendor.c.vendor), primary_key=True),
    number("group_number", "Number of the group within the vendor", primary_key=True, autoincrement=False),
    text("reason", "The platform's text", nullable=False),
    text("kind", "Its meaning, as in ledger.rejection", nullable=False),
    boolean("released", "Whether something has released these SKUs", nullable=False),
    number("skus", "SKUs with this reason", nullable=False),
    sa.Column("value_at_stake", sa.Numeric, comment="Their prices times their quantities; null: none of them has both"),
    moment("first_at", "When the platform rejected the first of them", nullable=False),
    text("skus_md5", "Hash of these SKUs: other SKUs, another hash", nullable=False),
    schema="ledger",
    comment="The rejections of each vendor by reason, counted in the transaction that changes them",
)

VALUE_AT_STAKE = "price * CASE WHEN quantity < 0 THEN 0 ELSE quantity END"
"""SQL of what a rejected SKU would sell for; null: its price or its quantity is not known."""

COUNT = f"""
INSERT INTO ledger.rejection_count (vendor, group_number, reason, kind, released, skus, value_at_stake, first_at, skus_md5)
SELECT vendor, row_number() OVER (ORDER BY reason, kind, released_by IS NOT NULL), reason, kind, released_by IS NOT NULL,
    count(*), sum({VALUE_AT_STAKE}), min(first_at), md5(CAST(json_agg(sku ORDER BY sku) AS text))
FROM ledger.rejection WHERE vendor = :vendor GROUP BY vendor, reason, kind, released_by IS NOT NULL
"""  # noqa: S608  of constants


@contextmanager
def _counted_again(connection: Connection, vendor: str) -> Iterator[None]:
    """Counts the vendor's rejections after the block has changed them. Of two transactions, the second waits, so each counts every row."""
    vendors.lock(connection, vendor)
    yield
    connection.execute(rejection_count.delete().where(rejection_count.c.vendor == vendor))
    connection.execute(sa.text(COUNT), {"vendor": vendor})


def of_vendor(connection: Connection, vendor: str) -> list[dict[str, Any]]:
    """What a delta leaves out now: rows of sku, barcode and the ERP's four values, by sku."""
    columns = [rejection.c.sku, *(rejection.c[name] for name in _WANTED)]
    waits = sa.or_(rejection.c.next_try_at.is_(None), rejection.c.next_try_at > instant())
    statement = sa.select(*columns).where(rejection.c.vendor == vendor, waits).order_by(rejection.c.sku)
    return [dict(row) for row in connection.execute(statement).mappings()]


@dataclass(frozen=True)
class ForGood:
    """What is rejected until its cause has gone. `newest_job`: the last one that rejected a SKU for the first time."""

    skus: int
    reason: str
    of_reason: int
    newest_job: int


def for_good(connection: Connection) -> dict[bool, ForGood]:
    """By whether the platform does not keep the values: the number of SKUs, and the most frequent reason."""
    c = rejection.c
    drifted = (c.kind == "drifted").label("drifted")
    first = sa.func.coalesce(sa.func.max(c.job_id).filter(c.times == 1), 0).label("newest_job")
    skus = sa.func.count().label("skus")
    statement = sa.select(drifted, c.reason, skus, first).where(c.next_try_at.is_(None)).group_by(drifted, c.reason)
    found: dict[bool, ForGood] = {}
    for row in connection.execute(statement.order_by(skus.desc(), c.reason)):
        most = found.get(row.drifted, ForGood(0, row.reason, row.skus, 0))
        newest = max(most.newest_job, row.newest_job)
        found[row.drifted] = replace(most, skus=most.skus + row.skus, newest_job=newest)
    return found


def reasons(connection: Connection, vendor: str, begin: str = "") -> dict[str, str]:
    """SKU -> the platform's reason for each rejected SKU of a vendor that begins so."""
    of_vendor = (rejection.c.vendor == vendor, sa.func.starts_with(rejection.c.sku, begin))
    rows = connection.execute(sa.select(rejection.c.sku, rejection.c.reason).where(*of_vendor))
    return {row.sku: row.reason for row in rows}


def remember(
    connection: Connection,
    vendor: str,
    job_id: int,
    rows: Sequence[dict[str, Any]],
    retry: RetryWaits | None = None,
    *,
    released: Iterable[str] = (),
) -> None:
    """Records rejections, and removes those of `released` before, in one count. The same job twice counts once.

    `rows`: sku, reason, optionally kind, the barcode (null: unknown) and the ERP's four values.
    """
    gone = _rejected_of(connection, vendor, released)
    if not rows and not gone:
        return
    with _counted_again(connection, vendor):
        _remove(connection, vendor, gone)
        if rows:
            _record(connection, vendor, job_id, rows, retry or RetryWaits())


def _record(
    connection: Connection, vendor: str, job_id: int, rows: Sequence[dict[str, Any]], retry: RetryWaits
) -> None:
    statement = insert(rejection)
    new = statement.excluded
    again = {
        **{name: new[name] for name in (*_WANTED, "reason", "kind")},
        "times": sa.case((rejection.c.job_id == new.job_id, rejection.c.times), else_=rejection.c.times + 1),
        "job_id": new.job_id,
        "last_at": instant(),
        "next_try_at": None,
        "released_by": None,
    }
    statement = statement.on_conflict_do_update(index_elements=[rejection.c.vendor, rejection.c.sku], set_=again)
    given = [{"kind": "unclear", **row, "vendor": vendor, "job_id": job_id} for row in rows]
    these = among(rejection.c.sku, [row["sku"] for row in rows])  # the others of the job keep their waits
    for_now = (rejection.c.vendor == vendor, these, rejection.c.kind.in_(FOR_NOW))
    connection.execute(statement, given)
    connection.execute(rejection.update().where(*for_now).values(next_try_at=_next_try(retry)))


def _next_try(retry: RetryWaits) -> sa.ColumnElement[Any]:
    """The instant after the wait that follows so many rejections, shortened per SKU and count."""
    times = rejection.c.times
    waits = retry.every_s()
    wait = sa.case(dict(enumerate(waits, start=1)), value=times, else_=waits[-1])
    number = sa.func.abs(sa.func.hashtext(rejection.c.sku + sa.cast(times, sa.Text)) % 1000)
    seconds = sa.cast(wait * (1.0 - number * (SHORTENED_MAX / 1000)), sa.Double)
    return instant() + sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds)


def release(connection: Connection, vendor: str, skus: Iterable[str]) -> None:
    """Removes rejections: the platform has accepted these SKUs, or the ERP no longer has them."""
    if gone := _rejected_of(connection, vendor, skus):
        with _counted_again(connection, vendor):
            _remove(connection, vendor, gone)


def _rejected_of(connection: Connection, vendor: str, skus: Iterable[str]) -> list[str]:
    """Those with a rejection. Only they are sent to the database: they are few, while a full sync has a whole assortment accepted."""
    rejected = set(skus_of(connection, vendor))
    return [sku for sku in skus if sku in rejected]


def _remove(connection: Connection, vendor: str, skus: list[str]) -> None:
    if skus:
        connection.execute(rejection.delete().where(rejection.c.vendor == vendor, among(rejection.c.sku, skus)))


def let_go(connection: Connection, vendor: str, skus: Iterable[str], by: str) -> int:
    """Lets a delta send these SKUs once more; returns their number. `by`: export, listing or a person."""
    values = {"next_try_at": instant(), "released_by": by}
    named = list(skus)
    if not named:
        return 0
    with _counted_again(connection, vendor):
        return connection.execute(
            rejection.update().where(rejection.c.vendor == vendor, among(rejection.c.sku, named)).values(values)
        ).rowcount


def unknown_before(connection: Connection, seen: Observation) -> list[str]:
    """SKUs rejected as unknown that this observation may show as known by now, and that it was not checked for yet.

    Their job ended before the observation was requested. Order comes from numbers, not from clocks (I17).
    """
    c = rejection.c
    statement = sa.select(c.sku).where(
        c.vendor == seen.vendor,
        c.kind == "unknown_sku",
        c.next_try_at.is_(None),
        sa.or_(c.observation_id.is_(None), c.observation_id < seen.observation_id),
        c.job_id <= (seen.last_job_id or 0),
        c.job_id.not_in(seen.open_job_ids or []),
    )
    return list(connection.execute(statement.order_by(c.sku)).scalars())


def unknown_now(connection: Connection, vendor: str) -> dict[str, int]:
    """SKUs rejected as unknown -> the job that rejected them. Read before the platform's listing is requested."""
    c = rejection.c
    statement = sa.select(c.sku, c.job_id).where(c.vendor == vendor, c.kind == "unknown_sku", c.next_try_at.is_(None))
    return {row.sku: row.job_id for row in connection.execute(statement)}


def let_go_unchanged(connection: Connection, vendor: str, jobs: dict[str, int], by: str) -> int:
    """`let_go` for SKUs that no other job has rejected since: an older listing proves nothing about a newer rejection (I17)."""
    of_job: dict[int, list[str]] = defaultdict(list)
    for sku, job_id in jobs.items():
        of_job[job_id].append(sku)
    if not of_job:
        return 0
    released = 0
    with _counted_again(connection, vendor):
        for job_id, skus in of_job.items():
            same = (rejection.c.vendor == vendor, rejection.c.job_id == job_id, among(rejection.c.sku, skus))
            statement = rejection.update().where(*same, rejection.c.next_try_at.is_(None))
            released += connection.execute(statement.values(next_try_at=instant(), released_by=by)).rowcount
    return released


def has_any(vendor: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """Whether a SKU of a vendor is rejected, within a query."""
    return sa.exists().where(rejection.c.vendor == vendor)


def looked_at(connection: Connection, seen: Observation, skus: Iterable[str]) -> None:
    """Records that the observation was checked for these SKUs."""
    statement = rejection.update().where(rejection.c.vendor == seen.vendor, among(rejection.c.sku, list(skus)))
    connection.execute(statement.values(observation_id=seen.observation_id))


def skus_of(connection: Connection, vendor: str) -> list[str]:
    """Every rejected SKU of this vendor."""
    statement = sa.select(rejection.c.sku).where(rejection.c.vendor == vendor).order_by(rejection.c.sku)
    return list(connection.execute(statement).scalars())
