"""The row of a vendor: its fence and the version of its baseline, moved only while it is locked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.catalog.ledger.tables import baseline, vendor
from shelfsync.platform.jobs.table import job
from shelfsync.store.bulk import among
from shelfsync.store.metadata import after, instant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from sqlalchemy.engine import Connection


@dataclass(frozen=True)
class Vendor:
    """The state of a vendor."""

    vendor: str
    fence: int
    baseline_version: int
    consecutive_failures: int
    """Requests in a row that had no outcome for any SKU."""
    retry_in_s: float
    """Seconds until the next request is allowed, by the database's clock; 0: now."""


@dataclass(frozen=True)
@final  # never false, so that `base and base.path` is a path or None
class BaselineVersion:
    """One version of the acknowledged state."""

    version: int
    path: str
    rows: int
    generation: int
    """Of the job that moved it last; an observation leaves it as it was."""
    known_path: str
    """The same SKUs with the last known value where it is unknown: what the guards compare with. Often `path` itself."""


KNOWN_PATH = sa.func.coalesce(baseline.c.known_path, baseline.c.path)
BASELINE_COLUMNS = (baseline.c.version, baseline.c.path, baseline.c.rows, baseline.c.generation, KNOWN_PATH)
"""Those of `BaselineVersion`."""


def read(connection: Connection, name: str) -> Vendor:
    """The row, without a lock."""
    return Vendor(*connection.execute(_SELECT, {"of_vendor": name}).one())


def lock(connection: Connection, name: str, *, whole: bool = False) -> Vendor:
    """Reads the row and locks it against other writers until the transaction ends.

    Rows that refer to the vendor can be added meanwhile. `whole` prevents that too, for a change of the vendor's open plan.
    """
    return Vendor(*connection.execute(_LOCK_WHOLE if whole else _LOCK, {"of_vendor": name}).one())


_SELECT = sa.select(
    vendor.c.vendor,
    vendor.c.fence,
    vendor.c.baseline_version,
    vendor.c.consecutive_failures,
    sa.cast(sa.func.greatest(0, sa.extract("epoch", vendor.c.retry_at - instant())), sa.Double),
).where(vendor.c.vendor == sa.bindparam("of_vendor", type_=sa.Text))
_LOCK, _LOCK_WHOLE = _SELECT.with_for_update(key_share=True), _SELECT.with_for_update()
"""Built once: the steps of a vendor send them a dozen times."""


def raise_fence(connection: Connection, name: str, generation: int) -> None:
    """From now on nothing older than `generation` may be sent for this vendor (I5)."""
    statement = vendor.update().where(vendor.c.vendor == name, vendor.c.fence < generation)
    connection.execute(statement.values(fence=generation))


def count_failure(connection: Connection, name: str) -> int:
    """Counts a request without an outcome for any SKU; returns how many in a row."""
    counted = (
        vendor.update().where(vendor.c.vendor == name).values(consecutive_failures=vendor.c.consecutive_failures + 1)
    )
    return int(connection.execute(counted.returning(vendor.c.consecutive_failures)).scalar_one())


def retry_after(connection: Connection, name: str, seconds: float) -> None:
    """Sends nothing to the vendor for so many seconds."""
    connection.execute(vendor.update().where(vendor.c.vendor == name).values(retry_at=after(seconds)))


def clear_failures(connection: Connection, name: str) -> None:
    """Resets the count: a request had an outcome for a SKU."""
    failing = (vendor.c.vendor == name, vendor.c.consecutive_failures > 0)
    connection.execute(vendor.update().where(*failing).values(consecutive_failures=0, retry_at=None))


def current_baseline(connection: Connection, name: str) -> BaselineVersion | None:
    """The version in force, or None while nothing was ever acknowledged."""
    return current_baselines(connection, [name]).get(name)


def current_baselines(connection: Connection, names: Collection[str]) -> dict[str, BaselineVersion]:
    """The versions in force, by vendor, of those of which something was ever acknowledged."""
    statement = (
        sa.select(vendor.c.vendor, *BASELINE_COLUMNS)
        .join(vendor, sa.and_(vendor.c.vendor == baseline.c.vendor, vendor.c.baseline_version == baseline.c.version))
        .where(among(vendor.c.vendor, names))
    )
    return {name: BaselineVersion(*columns) for name, *columns in connection.execute(statement)}


def baseline_of_version(connection: Connection, name: str, version: int) -> str | None:
    """Lake path of one version of the acknowledged state; None for version 0, when nothing was acknowledged."""
    statement = sa.select(baseline.c.path).where(baseline.c.vendor == name, baseline.c.version == version)
    return connection.execute(statement).scalar_one_or_none()


def names_path(connection: Connection, name: str) -> str | None:
    """Lake: what the ERP calls the vendor's products; None: it never gave a name."""
    return connection.execute(sa.select(vendor.c.names_path).where(vendor.c.vendor == name)).scalar_one_or_none()


def name_products(connection: Connection, name: str, path: str) -> None:
    """From now on the vendor's products have the names of this file."""
    connection.execute(vendor.update().where(vendor.c.vendor == name).values(names_path=path))


def names(connection: Connection) -> list[str]:
    """Every vendor that was ever in an extract."""
    return list(connection.execute(sa.select(vendor.c.vendor).order_by(vendor.c.vendor)).scalars())


def remember(connection: Connection, name: str) -> None:
    """Adds the row of a vendor if there is none."""
    connection.execute(insert(vendor).values(vendor=name).on_conflict_do_nothing())


def forgotten(connection: Connection) -> set[str]:
    """Vendors that a person has taken out."""
    return set(connection.execute(sa.select(vendor.c.vendor).where(vendor.c.forgotten.is_not(None))).scalars())


def forget(connection: Connection, name: str, why: str) -> None:
    """Takes a vendor out of runs, exports, promotions and status."""
    connection.execute(vendor.update().where(vendor.c.vendor == name).values(forgotten=why))


def is_any_known(connection: Connection) -> bool:
    """Whether any vendor was ever in an extract, also one that was forgotten."""
    return bool(connection.execute(sa.select(sa.exists(sa.select(vendor.c.vendor)))).scalar_one())


def take_in(connection: Connection, seen: Iterable[str]) -> None:
    """Vendors with rows in an extract are not forgotten any more."""
    forgotten = (vendor.c.vendor.in_(list(seen)), vendor.c.forgotten.is_not(None))
    connection.execute(vendor.update().where(*forgotten).values(forgotten=None))


def acknowledged_skus(connection: Connection, name: str) -> int:
    """How many SKUs the baseline in force has; 0 without one."""
    base = current_baseline(connection, name)
    return 0 if base is None else base.rows


def lately_acknowledged(connection: Connection, *, most: int, but: str = "") -> list[str]:
    """Some vendors, the most recently acknowledged first: the platform accepted something of them lately."""
    now_in_force = sa.and_(vendor.c.vendor == baseline.c.vendor, vendor.c.baseline_version == baseline.c.version)
    statement = sa.select(vendor.c.vendor).outerjoin(baseline, now_in_force).where(vendor.c.vendor != but)
    newest_first = sa.nulls_last(baseline.c.created_at.desc())
    return list(connection.execute(statement.order_by(newest_first, vendor.c.vendor).limit(most)).scalars())


def known_vendors(connection: Connection) -> dict[str, int]:
    """Every vendor that has a baseline and is not forgotten, with the number of SKUs in it."""
    statement = sa.select(vendor.c.vendor, baseline.c.rows).join(
        baseline, sa.and_(vendor.c.vendor == baseline.c.vendor, vendor.c.baseline_version == baseline.c.version)
    )
    statement = statement.where(vendor.c.forgotten.is_(None))
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
    """Compare and swap, by a job or by an observation: makes `expected` + 1 the version in force.

    Returns False if another version is in force already.
    """
    if connection.execute(_MOVE, {"of_vendor": name, "expected": expected}).rowcount == 0:
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
    }
    connection.execute(_NEXT_VERSION, values)
    return True


_MOVE = (
    vendor.update()
    .where(
        vendor.c.vendor == sa.bindparam("of_vendor", type_=sa.Text),
        vendor.c.baseline_version == sa.bindparam("expected", type_=sa.BigInteger),
    )
    .values(baseline_version=vendor.c.baseline_version + 1)
)
_NEXT_VERSION = baseline.insert().values(created_at=instant())


def last_job(connection: Connection, name: str) -> int | None:
    """The newest job that was sent for a vendor, or None."""
    newest = sa.select(sa.func.max(job.c.job_id)).where(job.c.vendor == name)
    return connection.execute(newest).scalar_one_or_none()
