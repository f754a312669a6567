"""What the steps before the sending have to know of a run's vendors: read at once for all of them, whatever their number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.catalog.ledger import extracts, observations, rejections, runs, vendor_runs, vendors
from shelfsync.catalog.ledger.tables import baseline, extract, run, vendor, vendor_run
from shelfsync.catalog.ledger.vendors import BaselineVersion
from shelfsync.catalog.state import RunState, VendorState
from shelfsync.store.bulk import among

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection

    from sqlalchemy.engine import Connection

_IN_FORCE = sa.and_(baseline.c.vendor == vendor.c.vendor, baseline.c.version == vendor.c.baseline_version)


@dataclass(frozen=True)
class Compared:
    """The ledger's facts for the diff of one vendor.

    `base`: the baseline in force. `complete`, `read_at`: whether its reading of the ERP was whole, and when it ended, by the database's clock.
    `absent_before`: lake, the absent SKUs of the diff before this one. `full_on_its_way`: the living full run that has not finished the
    vendor. `rejected`: whether any SKU of it is rejected.
    """

    base: BaselineVersion | None
    complete: bool
    read_at: dt.datetime | None
    absent_before: str | None
    full_on_its_way: int | None
    rejected: bool


def for_diff(connection: Connection, run_id: int, names: Collection[str]) -> dict[str, Compared]:
    """By vendor, of those that the run knows."""
    columns = (*vendors.BASELINE_COLUMNS, extract.c.complete, extract.c.read_at)
    statement = (
        sa.select(vendor.c.vendor, *columns, _absent_before(), _full_on_its_way(), rejections.has_any(vendor.c.vendor))
        .select_from(vendor_run)
        .join(vendor, vendor.c.vendor == vendor_run.c.vendor)
        .outerjoin(baseline, _IN_FORCE)
        .outerjoin(extract, extract.c.extract_id == vendor_run.c.extract_id)
        .where(vendor_run.c.run_id == run_id, among(vendor_run.c.vendor, names))
    )
    found = {}
    for name, version, path, rows, generation, known_path, complete, *rest in connection.execute(statement):
        base = None if version is None else BaselineVersion(version, path, rows, generation, known_path)
        found[name] = Compared(base, bool(complete), *rest)
    return found


@dataclass(frozen=True)
class Guarded:
    """The ledger's facts for the guard of one vendor.

    `base`, `known`: lake, the baseline of its diff and that one's last known values. `first`: no run of every SKU was acknowledged before.
    """

    base: str | None
    known: str | None
    first: bool
    past: extracts.Past


def for_guard(
    connection: Connection, run_id: int, names: Collection[str], *, feeds: int, days: float
) -> dict[str, Guarded]:
    """By vendor, of those that the run knows. `feeds`: so many trusted extracts; `days`: as in `in_step_before`."""
    past = extracts.past(connection, run_id, names, feeds=feeds)
    of_diff = sa.and_(
        baseline.c.vendor == vendor_run.c.vendor, baseline.c.version == sa.func.coalesce(vendor_run.c.base_version, 0)
    )
    statement = (
        sa.select(
            vendor_run.c.vendor, baseline.c.path, vendors.KNOWN_PATH, sa.not_(vendor_runs.in_step_before(days=days))
        )
        .select_from(vendor_run)
        .outerjoin(baseline, of_diff)
        .where(vendor_run.c.run_id == run_id, among(vendor_run.c.vendor, names))
    )
    return {name: Guarded(base, known, first, past[name]) for name, base, known, first in connection.execute(statement)}


def last_known(connection: Connection, names: Collection[str]) -> dict[str, tuple[BaselineVersion | None, str | None]]:
    """Vendor -> its baseline in force, and the path of its newest export or listing (lake); None: there is none yet."""
    statement = sa.select(vendor.c.vendor, observations.newest_path(vendor.c.vendor), *vendors.BASELINE_COLUMNS)
    statement = statement.outerjoin(baseline, _IN_FORCE).where(among(vendor.c.vendor, names))
    return {
        name: (None if version[0] is None else BaselineVersion(*version), observed)
        for name, observed, *version in connection.execute(statement)
    }


def _absent_before() -> sa.ScalarSelect[str]:
    """The last diff's, whether or not a SKU was absent."""
    before = vendor_run.alias("before")
    statement = (
        sa.select(before.c.absent_path)
        .join(run, run.c.run_id == before.c.run_id)
        .where(before.c.vendor == vendor_run.c.vendor, before.c.generation < vendor_run.c.generation)
        .where(before.c.delta_path.is_not(None), sa.not_(run.c.dry_run))
    )
    return statement.order_by(before.c.generation.desc()).limit(1).scalar_subquery()


def _full_on_its_way() -> sa.ScalarSelect[int]:
    """A newer delta would supersede the day's full sync of this vendor. A delta does not wait for a dead run, or for a superseded one."""
    other = vendor_run.alias("other")
    statement = (
        sa.select(run.c.run_id)
        .join(other, other.c.run_id == run.c.run_id)
        .where(
            other.c.vendor == vendor.c.vendor, other.c.state == VendorState.OPEN, other.c.generation >= vendor.c.fence
        )
        .where(run.c.run_id != vendor_run.c.run_id, run.c.kind == "full", run.c.state == RunState.RUNNING)
        .where(sa.not_(run.c.dry_run), runs.alive())
    )
    return statement.limit(1).scalar_subquery()
