"""The row of a vendor: its fence and the version of its baseline, moved only while it is locked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.ledger.instant import instant
from shelfsync.ledger.tables import baseline, job, vendor

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True)
class Vendor:
    """Where a vendor stands."""

    vendor: str
    fence: int
    baseline_version: int
    in_vain: int
    """Requests in a row that brought no word about any SKU."""
    in_vain_for_s: float
    """Since the last of them, by the database's clock."""


@dataclass(frozen=True)
class BaselineVersion:
    """One version of the acknowledged state."""

    version: int
    path: str
    rows: int
    generation: int
    known_path: str
    """The same SKUs with the last known value where it is unknown: what the guards compare with. Often `path` itself."""


_KNOWN_PATH = sa.func.coalesce(baseline.c.known_path, baseline.c.path)


def lock(connection: Connection, name: str) -> Vendor:
    """Reads the row and keeps it from everybody else until the transaction ends."""
    statement = (
        sa.select(
            vendor.c.vendor,
            vendor.c.fence,
            vendor.c.baseline_version,
            vendor.c.in_vain,
            sa.cast(sa.func.coalesce(sa.extract("epoch", instant() - vendor.c.in_vain_at), 0), sa.Double),
        )
        .where(vendor.c.vendor == name)
        .with_for_update()
    )
    return Vendor(*connection.execute(statement).one())


def raise_fence(connection: Connection, name: str, generation: int) -> None:
    """From now on nothing older than `generation` may be sent for this vendor (I5)."""
    statement = vendor.update().where(vendor.c.vendor == name, vendor.c.fence < generation)
    connection.execute(statement.values(fence=generation))


def sent_in_vain(connection: Connection, name: str) -> None:
    """One more request brought no word about any SKU."""
    values = {"in_vain": vendor.c.in_vain + 1, "in_vain_at": instant()}
    connection.execute(vendor.update().where(vendor.c.vendor == name).values(values))


def heard_of_skus(connection: Connection, name: str) -> None:
    """A request brought the platform's word about a SKU."""
    mine = (vendor.c.vendor == name, vendor.c.in_vain > 0)
    connection.execute(vendor.update().where(*mine).values(in_vain=0, in_vain_at=None))


def current_baseline(connection: Connection, name: str) -> BaselineVersion | None:
    """The version in force, or None while nothing was ever acknowledged."""
    statement = (
        sa.select(baseline.c.version, baseline.c.path, baseline.c.rows, baseline.c.generation, _KNOWN_PATH)
        .join(vendor, sa.and_(vendor.c.vendor == baseline.c.vendor, vendor.c.baseline_version == baseline.c.version))
        .where(vendor.c.vendor == name)
    )
    row = connection.execute(statement).one_or_none()
    return None if row is None else BaselineVersion(*row)


def baseline_of_version(connection: Connection, name: str, version: int) -> str | None:
    """Lake path of one version of the acknowledged state; None for version 0, when nothing was acknowledged."""
    statement = sa.select(baseline.c.path).where(baseline.c.vendor == name, baseline.c.version == version)
    return connection.execute(statement).scalar_one_or_none()


def known_of_version(connection: Connection, name: str, version: int) -> str | None:
    """Lake path of what was known last by one version of the acknowledged state; None for version 0."""
    statement = sa.select(_KNOWN_PATH).where(baseline.c.vendor == name, baseline.c.version == version)
    return connection.execute(statement).scalar_one_or_none()


def intervals_path(connection: Connection, name: str) -> str | None:
    """Where it is kept what was learned of the vendor's sales buffers, or None."""
    return connection.execute(sa.select(vendor.c.intervals_path).where(vendor.c.vendor == name)).scalar_one_or_none()


def remember_intervals(connection: Connection, name: str, path: str) -> None:
    """Notes what was learned of the vendor's sales buffers."""
    connection.execute(vendor.update().where(vendor.c.vendor == name).values(intervals_path=path))


def names(connection: Connection) -> list[str]:
    """Every vendor that was ever in an extract."""
    return list(connection.execute(sa.select(vendor.c.vendor).order_by(vendor.c.vendor)).scalars())


def remember(connection: Connection, name: str) -> None:
    """Makes the row of a vendor where there is none."""
    connection.execute(insert(vendor).values(vendor=name).on_conflict_do_nothing())


def lately_acknowledged(connection: Connection, *, most: int, but: str = "") -> list[str]:
    """Some vendors, those first whose acknowledged state moved last: of them the platform took something not long ago."""
    now_in_force = sa.and_(vendor.c.vendor == baseline.c.vendor, vendor.c.baseline_version == baseline.c.version)
    statement = sa.select(vendor.c.vendor).outerjoin(baseline, now_in_force).where(vendor.c.vendor != but)
    newest_first = sa.nulls_last(baseline.c.created_at.desc())
    return list(connection.execute(statement.order_by(newest_first, vendor.c.vendor).limit(most)).scalars())


def known_vendors(connection: Connection) -> dict[str, int]:
    """Every vendor that has a baseline, with the number of SKUs in it."""
    statement = sa.select(vendor.c.vendor, baseline.c.rows).join(
        baseline, sa.and_(vendor.c.vendor == baseline.c.vendor, vendor.c.baseline_version == baseline.c.version)
    )
    return {row.vendor: row.rows for row in connection.execute(statement)}


def move_baseline(
    connection: Connection,
    name: str,
    *,
    expected: int,
    path: str,
    rows: int,
    generation: int,
    job_id: int | None = None,
    observation_id: int | None = None,
    known_path: str | None = None,
) -> bool:
    """By a job or by a picture. Compare and swap: makes `expected` + 1 the version in force; False when another version is in force already."""
    moved = connection.execute(
        vendor.update()
        .where(vendor.c.vendor == name, vendor.c.baseline_version == expected)
        .values(baseline_version=expected + 1)
    )
    if moved.rowcount == 0:
        return False
    values = {
        "vendor": name,
        "version": expected + 1,
        "path": path,
        "known_path": known_path,
        "rows": rows,
        "generation": generation,
        "job_id": job_id,
        "observation_id": observation_id,
        "created_at": instant(),
    }
    connection.execute(baseline.insert().values(values))
    return True


def last_job(connection: Connection, name: str) -> int | None:
    """The newest job that was sent for a vendor, or None."""
    return connection.execute(sa.select(sa.func.max(job.c.job_id)).where(job.c.vendor == name)).scalar_one_or_none()
