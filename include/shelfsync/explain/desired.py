"""The ERP's values of a SKU, by the newest extract of its vendor, and the wanted values: the same, unless a restoration is in force.

And what a wanted value waits for before the platform shows it. Each query finds one obstacle; the first found counts. Holds are here
too, with the decisions about them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync import display
from shelfsync.decisions.ledger import holds
from shelfsync.decisions.state import HELD, HoldState, Subject
from shelfsync.explain import restorations
from shelfsync.explain.explanation import Desired, Event, Unproven, Values
from shelfsync.platform import kill_switch

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator

    import pyarrow as pa
    from sqlalchemy.engine import Connection, Row

    from shelfsync.context import Context

_NEWEST = """
SELECT vr.run_id, vr.raw_path, vr.snapshot_path, vr.same_as IS NOT NULL AS again, e.read_at, e.complete, e.proof, vr.absent_path
FROM ledger.vendor_run AS vr
JOIN ledger.run AS r USING (run_id)
JOIN ledger.extract AS e ON e.extract_id = vr.extract_id
WHERE vr.vendor = :vendor AND NOT r.dry_run AND vr.snapshot_path IS NOT NULL AND e.read_at <= :at
ORDER BY vr.generation DESC LIMIT 1
"""

_QUARANTINED = """
SELECT min(message) FILTER (WHERE NOT row_sent) AS row, string_agg(message, '; ' ORDER BY field) FILTER (WHERE row_sent) AS values
FROM warehouse.quarantine WHERE vendor = :vendor AND sku = :sku AND run_id = :run
"""

FIELDS = ("price", "quantity", "active", "max_sales_quantity")
_IN_FLIGHT = """
SELECT 'job ' || j.job_id || ', sent at {}, has ended' || CASE WHEN j.deadline_at IS NULL THEN '' ELSE ' (deadline {})' END AS line,
    ARRAY[j.created_at, j.deadline_at] AS times, '' AS rest
FROM ledger.job AS j WHERE j.vendor = :vendor AND j.state IN ('submitting', 'open', 'confirmed')
"""

_REJECTED = """
SELECT CASE
           WHEN released_by IS NOT NULL THEN 'the next run sends it again'
           WHEN kind = 'unknown_sku' THEN 'an export or a listing shows the SKU, or its row changes'
           WHEN next_try_at IS NULL THEN 'the ERP''s row changes'
           ELSE 'shelfsync sends it again at {}'
       END AS line, ARRAY[next_try_at] AS times,
    coalesce(' (released by ' || released_by || ')', '')
       || '. The platform rejected it (' || times || ' times, last in job ' || job_id || '): ' || reason AS rest
FROM ledger.rejection WHERE vendor = :vendor AND sku = :sku
"""

_FAILED = """
SELECT 'the next run completes the step ' AS line, CAST(ARRAY[] AS timestamptz[]) AS times,
    vr.failed_step || '. Run ' || vr.run_id || ' failed there: ' || vr.error AS rest
FROM ledger.vendor_run AS vr JOIN ledger.run AS r USING (run_id)
WHERE vr.vendor = :vendor AND NOT r.dry_run AND vr.generation = (
    SELECT last.generation FROM ledger.vendor_run AS last JOIN ledger.run USING (run_id)
    WHERE last.vendor = :vendor AND NOT run.dry_run ORDER BY last.generation DESC LIMIT 1)
  AND vr.state = 'failed'
"""

_OBSTACLES = (_FAILED, _REJECTED, _IN_FLIGHT)
"""Each finds a line with the places of its times, and the rest, whose texts are not shelfsync's."""


def desired(context: Context, connection: Connection, vendor: str, sku: str, at: dt.datetime) -> Desired | None:
    """None if no extract had the vendor by then, or if retention has removed that extract."""
    row = connection.execute(sa.text(_NEWEST), {"vendor": vendor, "at": at}).one_or_none()
    if row is None or not context.lake.exists(row.snapshot_path):
        return None
    found = _erp_row(context, connection, row, vendor, sku, at)
    bound = {"vendor": vendor, "sku": sku, "run": row.run_id}
    quarantined, left_out = connection.execute(sa.text(_QUARANTINED), bound).one()
    unproven = None if found is not None or row.complete else Unproven(row.proof, _absent_since(context, row, sku))
    ordered = restorations.in_force(connection, vendor, sku, at)
    wanted = restorations.laid_over(context, found, sku, ordered) if ordered else None
    if wanted is None:
        values = _values(found)
        return Desired(
            row.run_id,
            row.read_at,
            values,
            quarantined=quarantined,
            left_out=left_out,
            again=row.again,
            unproven=unproven,
        )
    return Desired(
        row.run_id, row.read_at, _values(wanted), quarantined=quarantined, restored=str(ordered[-1]), erp=_values(found)
    )


def _absent_since(context: Context, row: Row[Any], sku: str) -> dt.datetime | None:
    """When the first extract without the SKU was read; None: unknown."""
    known = row.absent_path is not None and context.lake.exists(row.absent_path)
    found = context.lake.find(row.absent_path, sku) if known else None
    return None if found is None else found["since"]


def _values(row: pa.Table | None) -> Values | None:
    return None if row is None else Values(**{name: row[name][0].as_py() for name in FIELDS})


def _erp_row(
    context: Context, connection: Connection, row: Row[Any], vendor: str, sku: str, at: dt.datetime
) -> pa.Table | None:
    """The ERP's own row of the SKU (SNAPSHOT shape, one row). If a restoration may have changed the snapshot, it is read from the raw rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.schemas import SNAPSHOT

    hides = restorations.in_force_since(connection, vendor, sku, row.read_at, at)
    if hides and row.raw_path and context.lake.exists(row.raw_path):
        from shelfsync.catalog.snapshot import make_snapshot

        raw = context.lake.read_table(row.raw_path)
        rows = make_snapshot(raw, context.settings.normalise, key=context.settings.platform.item_key).snapshot
        rows = rows.filter(pc.equal(rows["sku"], sku))
    else:
        found = context.lake.find(row.snapshot_path, sku)
        rows = pa.Table.from_pylist([] if found is None else [found], schema=SNAPSHOT)
    return rows if rows.num_rows else None


def waits_for(connection: Connection, vendor: str, sku: str, *, is_forgotten: bool) -> tuple[str, ...]:
    """Each as the end of "The platform will show … when". Empty: the next run can send it."""
    bound = {"vendor": vendor, "sku": sku}
    found = [_obstacle(connection.execute(sa.text(statement), bound).first()) for statement in _OBSTACLES]
    stop = kill_switch.stopped(connection, vendor)
    paused = None if stop is None else f"sending resumes: {stop}"
    returns = "an extract has rows of the store again, which is forgotten" if is_forgotten else None
    return tuple(line for line in (returns, paused, *found) if line is not None)


def _obstacle(row: Row[Any] | None) -> str | None:
    if row is None:
        return None
    line: str = row.line.format(*(display.instant(at) for at in row.times if at is not None))
    return f"{line}{row.rest}"


_HOLDS = """
SELECT hold_id, run_id, first_run_id, rule, message, rows_path, state, decided_by, why, held_at, decided_at, expires_at, superseded_by
FROM ledger.hold
WHERE subject = :subject AND vendor = :vendor AND held_at <= :at AND {which}
ORDER BY hold_id DESC LIMIT :most
"""
_IN_FORCE = "state IN ('open', 'declined', 'expired') AND superseded_by IS NULL"
CLOSED_MAX = 20
"""How many closed holds of a vendor are read, newest first; each costs one small file."""
IN_FORCE_MAX = 100
"""How many holds in force are read. There are few: each has its own rule or category, and the next extract ends it."""


def held(
    context: Context, connection: Connection, subject: Subject, vendor: str, sku: str, at: dt.datetime
) -> Iterator[tuple[Event, str | None]]:
    """Events of the SKU's holds of a subject: first those in force, each newest first. A hold in force comes with what its release waits for."""
    bound = {"subject": subject, "vendor": vendor, "at": at}
    both = ((_IN_FORCE, IN_FORCE_MAX), (f"NOT ({_IN_FORCE})", CLOSED_MAX))
    found_rows = [
        row
        for which, most in both
        for row in connection.execute(sa.text(_HOLDS.format(which=which)), {**bound, "most": most}).all()
    ]
    for row in found_rows:
        found = context.lake.find(row.rows_path, sku) if context.lake.exists(row.rows_path) else None
        if found is None:
            continue
        values = Values(**{name: found[name] for name in FIELDS}) if subject == Subject.CATALOG else Values()
        message = f"the guard {row.rule} holds it (hold {row.hold_id}): {row.message}"
        yield Event(row.held_at, "guard", message, row.first_run_id, None, values), _waits(row)
        for decision in holds.decisions_of(connection, row.hold_id):
            if decision["decided_at"] <= at:
                decided = f"hold {row.hold_id} {_act(decision)}"
                yield Event(decision["decided_at"], "guard", decided, row.run_id, None), None
        if row.state == HoldState.SUPERSEDED and row.decided_at is not None and row.decided_at <= at:
            yield Event(row.decided_at, "guard", f"hold {row.hold_id} was superseded", row.run_id, None), None


def _act(act: dict[str, Any]) -> str:
    """One act about a hold. A late answer is told with what came before it."""
    if act["ignored"]:
        return f"got the answer {act['state']} by {act['decided_by']} too late: {act['ignored']}"
    return _decided("reopened" if act["state"] == HoldState.OPEN else act["state"], act["decided_by"], act["why"])


def _decided(state: str, user: str | None, reason: str | None) -> str:
    if state == HoldState.EXPIRED:
        return "expired without a decision"
    note = f" ({reason})" if reason else ""
    return f"was {state}" + (f" by {user}{note}" if user else "")


def _waits(row: Row[tuple[object, ...]]) -> str | None:
    """None: the hold is closed, because an operator approved it or a newer extract has other rows."""
    if row.superseded_by is not None or row.state not in HELD:
        return None
    if row.state == HoldState.OPEN:
        return (
            f"an operator approves hold {row.hold_id} (`shelfsync holds show {row.hold_id}`). The guard {row.rule} holds it:"
            f" {row.message}. Without a decision by {display.instant(row.expires_at)} the hold expires"
        )
    decided = _decided(row.state, row.decided_by, row.why)
    return (
        f"an operator reopens hold {row.hold_id} (`shelfsync holds reopen {row.hold_id} --reason TEXT`) and approves it."
        f" The guard {row.rule} holds it:"
        f" {row.message}. The hold {decided}, so the value stays held until the ERP has another one"
    )
