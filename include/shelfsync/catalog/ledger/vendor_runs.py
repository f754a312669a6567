"""What one run does for one vendor: pointers from step to step."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from shelfsync.catalog.ledger.tables import batch, extract, generation_sequence, run, vendor, vendor_run
from shelfsync.catalog.state import BatchState, VendorState
from shelfsync.store.bulk import insertion
from shelfsync.store.metadata import after, instant

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from sqlalchemy.engine import Connection


@dataclass(frozen=True)
class VendorRun:
    """One row of `ledger.vendor_run`; a path is None until the step that writes it is done."""

    run_id: int
    vendor: str
    extract_id: int | None
    generation: int
    state: VendorState
    failed_step: str | None
    error: str | None
    rows_raw: int
    raw_path: str | None
    reported_path: str | None
    snapshot_path: str | None
    erp_path: str | None
    restorations: list[int] | None
    quarantine_path: str | None
    delta_path: str | None
    released_path: str | None
    held_path: str | None
    base_version: int | None
    batched_at: dt.datetime | None
    raw_digest: str | None
    same_as: int | None


_COLUMNS = [vendor_run.c[name] for name in VendorRun.__dataclass_fields__]


def next_generation(connection: Connection) -> int:
    """A number higher than every snapshot before."""
    return int(connection.execute(sa.select(generation_sequence.next_value())).scalar_one())


def begin(connection: Connection, run_id: int, name: str, **values: Any) -> None:
    """Starts a vendor afresh in this run, with its generation among the `values`."""
    _begin(connection, run_id, [{"vendor": name, **values}])


def begin_all(connection: Connection, run_id: int, extract_id: int, found: Mapping[str, Mapping[str, Any]]) -> None:
    """Starts vendors afresh in this run: vendor -> what was read of it, the same names in each. Each gets a generation of its own."""
    if not found:
        return
    count = sa.select(generation_sequence.next_value()).select_from(sa.func.generate_series(1, len(found)))
    generations = sorted(connection.execute(count).scalars())
    rows = zip(sorted(found.items()), generations, strict=True)
    _begin(
        connection,
        run_id,
        [{"vendor": name, "extract_id": extract_id, "generation": number, **values} for (name, values), number in rows],
    )


def unread(why: str) -> dict[str, str]:
    """The row of a vendor that failed before its rows were read."""
    return {"state": VendorState.FAILED, "failed_step": "extract", "error": why}


def _begin(connection: Connection, run_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """All pointers of an earlier reading are dropped; batches stay as they are. The rows have the same names, and one order for all processes."""
    connection.execute(insertion(vendor, [{"vendor": row["vendor"]} for row in rows]).on_conflict_do_nothing())
    statement = insertion(vendor_run, [{"run_id": run_id, **row} for row in rows])
    given = rows[0].keys() - {"vendor"}
    fresh: dict[str, Any] = {
        column.name: statement.excluded[column.name]
        if column.name in given
        else None
        if column.nullable
        else sa.text("DEFAULT")
        for column in vendor_run.columns
        if column.name not in {"run_id", "vendor"}
    }
    fresh["updated_at"] = instant()
    connection.execute(
        statement.on_conflict_do_update(index_elements=[vendor_run.c.run_id, vendor_run.c.vendor], set_=fresh)
    )


def read(connection: Connection, run_id: int, name: str) -> VendorRun | None:
    """This vendor in this run, or None."""
    return of_vendors(connection, run_id, [name]).get(name)


def of_vendors(connection: Connection, run_id: int, names: Collection[str]) -> dict[str, VendorRun]:
    """These vendors in this run, by name; one that the run does not know is missing."""
    found = _read(connection, _OF_VENDORS, {"of_run": run_id, "of_vendors": list(names)})
    return {row.vendor: row for row in found}


_OF_VENDORS = sa.select(*_COLUMNS).where(
    vendor_run.c.run_id == sa.bindparam("of_run", type_=sa.BigInteger),
    vendor_run.c.vendor == sa.any_(sa.bindparam("of_vendors", type_=ARRAY(sa.Text))),
)


def _read(connection: Connection, statement: sa.Select[Any], of: Mapping[str, Any] | None = None) -> list[VendorRun]:
    rows = connection.execute(statement, of or {}).mappings()
    return [VendorRun(**{**row, "state": VendorState(row["state"])}) for row in rows]


def newer_on_its_way(connection: Connection, name: str, generation: int) -> int | None:
    """A run that has a newer extract of this vendor and has not failed, or None."""
    statement = (
        sa.select(vendor_run.c.run_id)
        .join(run, run.c.run_id == vendor_run.c.run_id)
        .where(
            vendor_run.c.vendor == name,
            vendor_run.c.generation > generation,
            vendor_run.c.state != VendorState.FAILED,
            sa.not_(run.c.dry_run),
        )
    )
    return connection.execute(statement.order_by(vendor_run.c.generation.desc()).limit(1)).scalar_one_or_none()


def changes(connection: Connection, run_id: int, name: str) -> dict[str, int]:
    """How many SKUs changed in this vendor's run, by kind: new, changed, removed, same, held and whatever else is counted."""
    counted = [column for column in vendor_run.columns if column.name.startswith("changes_")]
    statement = sa.select(*counted).where(vendor_run.c.run_id == run_id, vendor_run.c.vendor == name)
    row = connection.execute(statement).mappings().one()
    return {key.removeprefix("changes_"): int(value) for key, value in row.items()}


def guarded_lately(connection: Connection, names: Iterable[str], *, days: float) -> list[VendorRun]:
    """Vendors in runs of the last days with changes for the guards, oldest first. `names`: these vendors only."""
    mine = [run.c.started_at >= after(-days * 86_400), vendor_run.c.delta_path.is_not(None), sa.not_(run.c.dry_run)]
    if wanted := list(names):
        mine.append(vendor_run.c.vendor.in_(wanted))
    statement = sa.select(*_COLUMNS).join(run, run.c.run_id == vendor_run.c.run_id).where(*mine)
    return _read(connection, statement.order_by(vendor_run.c.generation, vendor_run.c.vendor))


def in_step_before(*, days: float) -> sa.ColumnElement[bool]:
    """Whether a run of every SKU was acknowledged before the vendor's run, within a query; a run of named SKUs does not count.

    A vendor older than `days` counts as acknowledged, because its first runs may be removed by now.
    """
    before = vendor_run.alias("before")
    whole = (
        sa.select(run.c.run_id)
        .join(before, before.c.run_id == run.c.run_id)
        .where(
            before.c.vendor == vendor_run.c.vendor,
            before.c.generation < vendor_run.c.generation,
            before.c.state == VendorState.ACKNOWLEDGED,
            sa.func.cardinality(run.c.skus) == 0,
            sa.not_(run.c.dry_run),
        )
    )
    old = sa.select(vendor.c.vendor).where(
        vendor.c.vendor == vendor_run.c.vendor, vendor.c.created_at < after(-days * 86_400)
    )
    return sa.or_(whole.correlate(vendor_run).exists(), old.correlate(vendor_run).exists())


def read_all(connection: Connection, run_id: int) -> list[VendorRun]:
    """Every vendor of this run, by name."""
    return _read(connection, sa.select(*_COLUMNS).where(vendor_run.c.run_id == run_id).order_by(vendor_run.c.vendor))


@dataclass(frozen=True)
class LastSnapshot:
    """The last extract of a vendor. `read_at`: by the database's clock. `complete`: what is absent has left the ERP."""

    run_id: int
    generation: int
    snapshot_path: str
    quarantine_path: str | None
    held_path: str | None
    read_at: dt.datetime
    complete: bool


def last_snapshot(connection: Connection, name: str) -> LastSnapshot | None:
    """The newest snapshot of a vendor that was no dry run's, or None while there is none."""
    row = vendor_run.c
    statement = (
        sa.select(
            row.run_id,
            row.generation,
            row.snapshot_path,
            row.quarantine_path,
            row.held_path,
            extract.c.read_at,
            extract.c.complete,
        )
        .join(run, run.c.run_id == row.run_id)
        .join(extract, extract.c.extract_id == row.extract_id)
        .where(row.vendor == name, row.snapshot_path.is_not(None), sa.not_(run.c.dry_run))
        .order_by(row.generation.desc())
        .limit(1)
    )
    found = connection.execute(statement).one_or_none()
    return None if found is None else LastSnapshot(*found)


def files_read_last(connection: Connection) -> dict[str, str]:
    """Vendor -> the raw file of its last run, if that went through: as the newest one it is in use, and it could be read."""
    rows = connection.execute(_FILES_READ_LAST, {"good": [VendorState.UNCHANGED, VendorState.ACKNOWLEDGED]})
    return {row.vendor: row.raw_path for row in rows}


_FILES_READ_LAST = sa.text("""
SELECT v.vendor, last.raw_path FROM ledger.vendor AS v CROSS JOIN LATERAL (
    SELECT vr.raw_path, vr.snapshot_path, vr.state FROM ledger.vendor_run AS vr JOIN ledger.run USING (run_id)
    WHERE vr.vendor = v.vendor AND NOT run.dry_run ORDER BY vr.generation DESC LIMIT 1
) AS last WHERE last.raw_path IS NOT NULL AND last.snapshot_path IS NOT NULL AND last.state = ANY (:good)
""")


def has_newest_snapshot(connection: Connection, row: VendorRun) -> bool:
    """Whether this is the newest snapshot of the vendor. A step of an older run may be repeated at any time."""
    last = last_snapshot(connection, row.vendor)
    return last is None or last.generation <= row.generation


def passed_over(connection: Connection, run_id: int) -> dict[str, str]:
    """Vendor -> why, for vendors that exactly this run and the one before passed over. Each such stall is reported once.

    A vendor in back-off is not among them: shelfsync reported it when the back-off began.
    """
    earlier = _two_before()
    one_busy = sa.func.count().filter(sa.and_(earlier.c.place == 1, earlier.c.state == VendorState.BUSY))
    two_busy = sa.func.count().filter(sa.and_(earlier.c.place == 2, earlier.c.state == VendorState.BUSY))
    statement = (
        sa.select(vendor_run.c.vendor, vendor_run.c.error)
        .join(earlier, sa.true())
        .where(
            vendor_run.c.run_id == run_id,
            vendor_run.c.state == VendorState.BUSY,
            vendor_run.c.vendor.in_(sa.select(vendor.c.vendor).where(vendor.c.consecutive_failures == 0)),
        )
        .group_by(vendor_run.c.vendor, vendor_run.c.error)
        .having(one_busy == 1, two_busy == 0)
        .order_by(vendor_run.c.vendor)
    )
    return {row.vendor: str(row.error) for row in connection.execute(statement)}


@functools.cache
def _two_before() -> sa.FromClause:
    """The two runs of a vendor before one. Made once a process, because SQLAlchemy copies every column of the table for it."""
    before = vendor_run.alias("before")
    return (
        sa.select(before.c.state, sa.func.row_number().over(order_by=before.c.generation.desc()).label("place"))
        .join(run, run.c.run_id == before.c.run_id)
        .where(
            before.c.vendor == vendor_run.c.vendor,
            before.c.generation < vendor_run.c.generation,
            sa.not_(run.c.dry_run),
        )
        .order_by(before.c.generation.desc())
        .limit(2)
        .lateral("earlier")
    )


def write(connection: Connection, run_id: int, name: str, **values: Any) -> None:
    """Sets pointers, counts or the state."""
    statement = vendor_run.update().where(vendor_run.c.run_id == run_id, vendor_run.c.vendor == name)
    connection.execute(statement.values(**values, updated_at=instant()))


def prepare(connection: Connection, row: VendorRun, **values: Any) -> bool:
    """Writes what a step before the sending found, for the reading that it worked on.

    False, and nothing is written: another process of the run has read this vendor again, ended it as read again, the same, planned its
    batches, or superseded it.
    """
    mine = {"of_run": row.run_id, "of_vendor": row.vendor, "of_generation": row.generation}
    computed = {name: values.pop(name) for name in [*values] if isinstance(values[name], sa.ColumnElement)}
    statement = _PREPARE.values(computed) if computed else _PREPARE
    return connection.execute(statement, mine | values).rowcount == 1


_PREPARE = (
    vendor_run.update()
    .where(
        vendor_run.c.run_id == sa.bindparam("of_run", type_=sa.BigInteger),
        vendor_run.c.vendor == sa.bindparam("of_vendor", type_=sa.Text),
        vendor_run.c.generation == sa.bindparam("of_generation", type_=sa.BigInteger),
        vendor_run.c.same_as.is_(None),
        vendor_run.c.batched_at.is_(None),
        vendor_run.c.state.not_in((VendorState.SUPERSEDED, VendorState.ACKNOWLEDGED)),
    )
    .values(updated_at=instant())
)
"""The columns to write come with the values."""


def clear_failure(connection: Connection, row: VendorRun, earlier: Collection[str]) -> None:
    """Clears the failure of this reading, unless one of the `earlier` steps failed."""
    c = vendor_run.c
    mine = (c.run_id == row.run_id, c.vendor == row.vendor, c.generation == row.generation)
    state = sa.case((c.state == VendorState.FAILED, VendorState.OPEN), else_=c.state)
    cleared = vendor_run.update().where(*mine, c.failed_step.not_in(earlier))
    connection.execute(cleared.values(state=state, failed_step=None, error=None, updated_at=instant()))


def acknowledge(connection: Connection, run_id: int, name: str, generation: int, *, unless: sa.Exists) -> None:
    """Marks this snapshot as acknowledged, unless the run was read again since, gave up a part of it, or has more to do (`unless`).

    If a newer run took over a part of it, it is superseded: the platform never acknowledged the whole.
    """
    row, part = vendor_run.c, batch.c
    mine = (row.run_id == run_id, row.vendor == name, row.generation == generation, row.state != VendorState.SUPERSEDED)
    given_up = sa.exists().where(
        part.run_id == run_id, part.vendor == name, part.generation == generation, part.state == BatchState.SUPERSEDED
    )
    connection.execute(
        vendor_run.update()
        .where(*mine, ~unless)
        .values(
            state=sa.case((given_up, VendorState.SUPERSEDED), else_=VendorState.ACKNOWLEDGED),
            error=sa.case(
                (given_up, "a newer run has superseded a part of this one; it sends the ERP's newest values"),
                else_=row.error,
            ),
            updated_at=instant(),
        )
    )


def supersede(connection: Connection, run_id: int, name: str, generation: int, why: str) -> None:
    """Marks this snapshot as superseded, unless the run was read again since."""
    row = vendor_run.c
    mine = (row.run_id == run_id, row.vendor == name, row.generation == generation)
    values = {"state": "superseded", "failed_step": None, "error": why, "updated_at": instant()}
    connection.execute(vendor_run.update().where(*mine).values(values))
