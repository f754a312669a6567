"""SKUs the platform refuses, with the values that were wanted: for good until that changes, or for now, with growing waits between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.ledger import tables
from shelfsync.ledger.instant import instant
from shelfsync.ledger.metadata import metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.ledger.observations import Observation

_WANTED = ("barcode", "price", "quantity", "active", "max_sales_quantity")
FOR_NOW = ("for_now", "unclear")
DOUBLINGS_MAX = 20

rejection = sa.Table(
    "rejection",
    metadata,
    sa.Column("vendor", sa.Text, sa.ForeignKey(tables.vendor.c.vendor), primary_key=True, comment="The vendor"),
    sa.Column("sku", sa.Text, primary_key=True, comment="The SKU"),
    sa.Column("reason", sa.Text, nullable=False, comment="The platform's words"),
    sa.Column(
        "kind",
        sa.Text,
        nullable=False,
        server_default="unclear",
        comment="What they mean: unknown_sku, invalid_value or drifted (for good), for_now or unclear (for now)",
    ),
    sa.Column("barcode", sa.Text, comment="The barcode it had when it was refused; null: unknown"),
    sa.Column("price", sa.Numeric(20, 3), comment="The value wanted when it was refused"),
    sa.Column("quantity", sa.BigInteger, comment="The value wanted when it was refused"),
    sa.Column("active", sa.Boolean, comment="The value wanted when it was refused"),
    sa.Column("max_sales_quantity", sa.BigInteger, comment="The value wanted when it was refused"),
    sa.Column(
        "job_id",
        sa.BigInteger,
        sa.ForeignKey(tables.job.c.job_id),
        nullable=False,
        index=True,
        comment="The job that refused it last",
    ),
    sa.Column("times", sa.Integer, nullable=False, server_default="1", comment="How often it was refused"),
    sa.Column(
        "first_at",
        sa.DateTime(timezone=True),
        nullable=False,
        server_default=sa.text("now()"),
        comment="When it was first refused",
    ),
    sa.Column(
        "last_at",
        sa.DateTime(timezone=True),
        nullable=False,
        server_default=sa.text("now()"),
        comment="When it was last refused",
    ),
    sa.Column(
        "next_try_at",
        sa.DateTime(timezone=True),
        comment="From when on a delta sends it again though nothing has changed; null: only when that which refused it has gone",
    ),
    sa.Column("released_by", sa.Text, comment="What let a refusal for good go: export, listing or a person"),
    sa.Column(
        "observation_id",
        sa.BigInteger,
        comment="The newest picture of the platform that was looked at for this SKU, so that none is looked at twice",
    ),
    sa.CheckConstraint("kind IN ('unknown_sku', 'invalid_value', 'drifted', 'for_now', 'unclear')", name="kind"),
    schema="ledger",
    comment="SKUs the platform refuses: a delta does not repeat them until they are released; a full sync tries them once",
)


@dataclass(frozen=True)
class Backoff:
    """The wait after the first refusal for now, and the longest, in seconds; it doubles between."""

    first_s: float = 900.0
    max_s: float = 86_400.0


def of_vendor(connection: Connection, vendor: str) -> list[dict[str, Any]]:
    """What a delta leaves out now: rows of sku, the barcode and the four values that were wanted, by sku."""
    columns = [rejection.c.sku, *(rejection.c[name] for name in _WANTED)]
    waits = sa.or_(rejection.c.next_try_at.is_(None), rejection.c.next_try_at > instant())
    statement = sa.select(*columns).where(rejection.c.vendor == vendor, waits).order_by(rejection.c.sku)
    return [dict(row) for row in connection.execute(statement).mappings()]


def reasons(connection: Connection, vendor: str) -> dict[str, str]:
    """Why each refused SKU of a vendor is refused."""
    rows = connection.execute(sa.select(rejection.c.sku, rejection.c.reason).where(rejection.c.vendor == vendor))
    return {row.sku: row.reason for row in rows}


def remember(
    connection: Connection, vendor: str, job_id: int, rows: Sequence[dict[str, Any]], backoff: Backoff | None = None
) -> None:
    """Notes refusals: sku, reason, perhaps its kind, and the barcode (null: unknown) and four values wanted. The same job twice counts once."""
    if not rows:
        return
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
    connection.execute(statement, [{"kind": "unclear", **row, "vendor": vendor, "job_id": job_id} for row in rows])
    for_now = (rejection.c.vendor == vendor, rejection.c.job_id == job_id, rejection.c.kind.in_(FOR_NOW))
    connection.execute(rejection.update().where(*for_now).values(next_try_at=_next_try(backoff or Backoff())))


def _next_try(backoff: Backoff) -> sa.ColumnElement[Any]:
    """Doubling, and up to a quarter shorter by a number made from the SKU and the count: what failed together comes back apart."""
    times = rejection.c.times
    doubled = backoff.first_s * sa.func.power(2.0, sa.func.least(times - 1, DOUBLINGS_MAX))
    number = sa.func.abs(sa.func.hashtext(rejection.c.sku + sa.cast(times, sa.Text)) % 1000)
    seconds = sa.cast(sa.func.least(doubled, backoff.max_s) * (1.0 - number / 4000.0), sa.Double)
    return instant() + sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds)


def release(connection: Connection, vendor: str, skus: Iterable[str]) -> None:
    """Forgets refusals: the platform has accepted these SKUs, or nobody wants them any more."""
    connection.execute(rejection.delete().where(rejection.c.vendor == vendor, _among(skus)))


def let_go(connection: Connection, vendor: str, skus: Iterable[str], by: str) -> int:
    """Lets a delta send these SKUs again, once: their number. `by`: export, listing or a person."""
    values = {"next_try_at": instant(), "released_by": by}
    return connection.execute(
        rejection.update().where(rejection.c.vendor == vendor, _among(skus)).values(values)
    ).rowcount


def unknown_before(connection: Connection, seen: Observation) -> list[str]:
    """SKUs refused as unknown of which this picture may tell that they are known by now, and was not asked yet.

    Its job left, and was known to have ended, before the picture was asked for: order comes from numbers, not from clocks (I17).
    """
    c = rejection.c
    statement = sa.select(c.sku).where(
        c.vendor == seen.vendor,
        c.kind == "unknown_sku",
        c.next_try_at.is_(None),
        sa.or_(c.observation_id.is_(None), c.observation_id < seen.observation_id),
        c.job_id <= (seen.last_job_id or 0),
        c.job_id != (seen.open_job_id or 0),
    )
    return list(connection.execute(statement.order_by(c.sku)).scalars())


def unknown_now(connection: Connection, vendor: str) -> dict[str, int]:
    """SKUs refused as unknown that wait for somebody to show them, and the job that said so: to be read before the platform is asked."""
    c = rejection.c
    statement = sa.select(c.sku, c.job_id).where(c.vendor == vendor, c.kind == "unknown_sku", c.next_try_at.is_(None))
    return {row.sku: row.job_id for row in connection.execute(statement)}


def let_go_unchanged(connection: Connection, vendor: str, jobs: dict[str, int], by: str) -> int:
    """The same as `let_go` of those that no other job has refused since: what was shown then says nothing of a newer refusal (I17)."""
    same = sa.tuple_(rejection.c.sku, rejection.c.job_id).in_(list(jobs.items()))
    statement = rejection.update().where(rejection.c.vendor == vendor, rejection.c.next_try_at.is_(None), same)
    return connection.execute(statement.values(next_try_at=instant(), released_by=by)).rowcount


def looked_at(connection: Connection, seen: Observation, skus: Iterable[str]) -> None:
    """The picture has been asked about these SKUs."""
    statement = rejection.update().where(rejection.c.vendor == seen.vendor, _among(skus))
    connection.execute(statement.values(observation_id=seen.observation_id))


def skus_of(connection: Connection, vendor: str) -> list[str]:
    """Every SKU of this vendor that is refused."""
    statement = sa.select(rejection.c.sku).where(rejection.c.vendor == vendor).order_by(rejection.c.sku)
    return list(connection.execute(statement).scalars())


def count_by_reason(connection: Connection) -> dict[str, int]:
    """How many SKUs are refused, by the platform's words."""
    statement = sa.select(rejection.c.reason, sa.func.count()).group_by(rejection.c.reason)
    return {row.reason: row[1] for row in connection.execute(statement)}


def _among(skus: Iterable[str]) -> sa.ColumnElement[bool]:
    return rejection.c.sku == sa.any_(sa.literal(list(skus), sa.ARRAY(sa.Text)))
