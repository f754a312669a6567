"""reconcile: the platform's own picture against what is wanted and what was acknowledged; every difference named, healed or told."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shelfsync.flow.each_export import LaterError, each_export
from shelfsync.flow.each_vendor import Skip, StepReport
from shelfsync.flow.evidence import evidence_of
from shelfsync.flow.intervals import learned
from shelfsync.flow.known import write_known
from shelfsync.ledger import exports, healings, observations, rejections, vendor_runs, vendors
from shelfsync.ledger.leases import LeaseLostError, leased
from shelfsync.warehouse import drift as told
from shelfsync.warehouse import history

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from shelfsync.catalog.reconcile import Reconciled
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.exports import Export
    from shelfsync.ledger.leases import Lease
    from shelfsync.ledger.observations import Observation
    from shelfsync.ledger.vendor_runs import LastSnapshot
    from shelfsync.ledger.vendors import BaselineVersion

log = logging.getLogger(__name__)

SWAPS = 3
"""How often a baseline that moved meanwhile is read again before the schedule takes over."""


@dataclass(frozen=True)
class _Vendor:
    """What is known of one vendor when its picture is looked at."""

    seen: Observation
    base: BaselineVersion | None
    last: LastSnapshot | None
    before: Observation | None
    observed: pa.Table
    baseline: pa.Table
    desired: pa.Table | None
    quarantined: pa.Table | None
    healed: dict[tuple[str, str], int]

    @property
    def complete(self) -> bool:
        """Whether what is absent from `desired` has left the ERP."""
        return self.last is not None and self.last.complete


def reconcile(parts: Parts, run_key: str, names: Iterable[str]) -> StepReport:
    """Compares each vendor's newest picture; what is to be healed becomes unknown in the baseline, so that the next delta says it."""

    def work(one: Export) -> None:
        if one.state == "reconciled":
            raise Skip("done before")
        if one.state != "observed" or one.observation_id is None:
            raise Skip(f"the export is {one.state}" + (f": {one.error}" if one.error else ""))
        with leased(parts.engine, one.vendor, parts.settings.sync.lease_s) as lease:
            if lease is None:
                raise LaterError(f"reconcile: vendor {one.vendor}: another process is working on it")
            try:
                _reconcile(parts, one, one.observation_id, lease)
            except LeaseLostError as lost:
                raise LaterError(f"reconcile: {lost}") from lost

    return each_export(parts, run_key, names, "reconcile", work)


def _reconcile(parts: Parts, one: Export, observation_id: int, lease: Lease) -> None:
    for _ in range(SWAPS):
        vendor = _gathered(parts, one.vendor, observation_id)
        if vendor is None:
            _finish(parts, one)
            raise Skip("a newer picture of this vendor was reconciled before")
        if _compared(parts, one, vendor, lease):
            return
    raise LaterError(f"reconcile: the baseline of vendor {one.vendor} moved {SWAPS} times meanwhile")


def _gathered(parts: Parts, name: str, observation_id: int) -> _Vendor | None:
    from shelfsync.columns import BASELINE, SNAPSHOT, completed

    window_s = parts.settings.drift.healings_window_days * 86400.0
    with parts.engine.connect() as connection:
        seen = observations.read(connection, observation_id)
        newest = observations.newest(connection, name)
        if newest is not None and newest.observation_id != observation_id:
            return None
        before = observations.newest(connection, name, before=seen)
        base = vendors.current_baseline(connection, name)
        last = vendor_runs.last_snapshot(connection, name)
        often = healings.counts(connection, name, within_s=window_s)
    lake = parts.lake
    return _Vendor(
        seen=seen,
        base=base,
        last=last,
        before=before,
        observed=lake.read_table(seen.path),
        baseline=BASELINE.empty_table() if base is None else completed(lake.read_table(base.path), BASELINE),
        desired=None if last is None else completed(lake.read_table(last.snapshot_path), SNAPSHOT),
        quarantined=None
        if last is None or last.quarantine_path is None
        else lake.read_table(last.quarantine_path, columns=["sku"]),
        healed=often,
    )


def _compared(parts: Parts, one: Export, vendor: _Vendor, lease: Lease) -> bool:
    """Names, decides and writes; False when the baseline moved meanwhile."""
    from shelfsync.catalog.difference import differences
    from shelfsync.catalog.reconcile import reconcile as pure

    last, before = vendor.last, vendor.before
    found = differences(
        vendor.observed,
        vendor.baseline,
        vendor.desired,
        previous=None if before is None else parts.lake.read_table(before.path),
        complete=vendor.complete,
        quarantined=vendor.quarantined,
    )
    evidence = evidence_of(parts, vendor.seen, before, last, found["sku"].combine_chunks().unique())
    result = pure(found, evidence)
    drift = _with_action(parts, vendor, result.drift)
    intervals = learned(parts, vendor.seen, vendor.baseline, vendor.observed, drift)
    return _write(parts, one, vendor, result, drift, lease, intervals)


def _with_action(parts: Parts, vendor: _Vendor, drift: pa.Table) -> pa.Table:
    """What is done about each: as set by its cause, and a rejection where healing did not last."""
    import pyarrow as pa

    settings = parts.settings.drift
    actions = []
    for sku, name, cause in zip(*(drift[column].to_pylist() for column in ("sku", "field", "cause")), strict=True):
        action = str(getattr(settings, cause))
        if action == "heal" and vendor.healed.get((sku, name), 0) >= settings.healings_max:
            action = "reject"
        actions.append(action)
    return drift.append_column("action", pa.array(actions, pa.string()))


def _write(
    parts: Parts, one: Export, vendor: _Vendor, result: Reconciled, drift: pa.Table, lease: Lease, intervals: str | None
) -> bool:
    """Everything in one transaction with the move of the baseline."""
    from shelfsync.catalog.product import products
    from shelfsync.catalog.reconcile import healed, settled

    heal, reject = _of(drift, "heal"), _of(drift, "reject")
    name, number = one.vendor, vendor.seen.observation_id
    moved = settled(healed(vendor.baseline, heal), vendor.observed, result.settled)
    known = products(
        vendor.observed,
        vendor.baseline,
        vendor.desired,
        complete=vendor.complete,
        quarantined=vendor.quarantined,
    )
    path = None if moved.equals(vendor.baseline) else parts.lake.write_table("baseline", name, moved)
    known_path = None if path is None else write_known(parts, name, moved, vendor.base)
    with parts.engine.begin() as connection:
        lease.hold(connection)
        stands = vendors.lock(connection, name)
        if exports.read(connection, one.export_id).state != "observed":
            return True
        if stands.baseline_version != (0 if vendor.base is None else vendor.base.version):
            return False
        if path is not None and vendor.base is not None:
            swapped = vendors.move_baseline(
                connection,
                name,
                expected=stands.baseline_version,
                path=path,
                known_path=known_path,
                rows=moved.num_rows,
                generation=vendor.base.generation,
                observation_id=number,
            )
            if not swapped:
                return False
            history.correct_baseline(connection, number, name, _differing(moved, vendor.baseline))
        if intervals is not None:
            vendors.remember_intervals(connection, name, intervals)
        healings.remember(connection, name, number, _pairs(heal))
        rejections.release(connection, name, _skus_of(heal, "refused"))
        _reject(connection, vendor, reject)
        told.replace_drift(connection, name, number, vendor.seen.observed_at, drift)
        told.merge_products(connection, name, vendor.seen.observed_at, known)
        exports.reconciled(
            connection, one.export_id, drifts=drift.num_rows, healed=heal.num_rows, settled=len(result.settled)
        )
    _tell(name, drift, result)
    return True


def _finish(parts: Parts, one: Export) -> None:
    with parts.engine.begin() as connection:
        exports.reconciled(connection, one.export_id, drifts=0, healed=0, settled=0)


def _reject(connection: Any, vendor: _Vendor, reject: pa.Table) -> None:
    """Drift that came back after several healings: nobody sends it again before the ERP wants something else, or a full sync tries."""
    if not reject.num_rows:
        return
    from shelfsync.columns import FIELDS

    job_id = vendors.last_job(connection, vendor.seen.vendor)
    if job_id is None or vendor.desired is None:
        return
    wanted = {row["sku"]: row for row in vendor.desired.select(["sku", "barcode", *FIELDS]).to_pylist()}
    blank: dict[str, Any] = {
        "barcode": None,
        "price": None,
        "quantity": None,
        "active": False,
        "max_sales_quantity": None,
    }
    rows: dict[str, dict[str, Any]] = {}
    for row in reject.to_pylist():
        sku = row["sku"]
        times = vendor.healed.get((sku, row["field"]), 0)
        said = f"returned after {times} healings" if times else "is not healed (SHELFSYNC_DRIFT__HEALINGS_MAX=0)"
        reason = (
            f"drift {said}: {row['field']} shows {row['observed']} instead of"
            f" {row['acknowledged'] or row['desired']} ({row['cause'].replace('_', ' ')})"
        )
        rows[sku] = {**wanted.get(sku, {"sku": sku, **blank}), "reason": reason, "kind": "drifted"}
    rejections.remember(connection, vendor.seen.vendor, job_id, list(rows.values()))


def _of(drift: pa.Table, action: str) -> pa.Table:
    import pyarrow.compute as pc

    return drift.filter(pc.equal(drift["action"], action))


def _skus_of(drift: pa.Table, cause: str) -> list[str]:
    import pyarrow.compute as pc

    found: list[str] = drift.filter(pc.equal(drift["cause"], cause))["sku"].unique().to_pylist()
    return found


def _pairs(drift: pa.Table) -> list[tuple[str, str]]:
    return list(zip(drift["sku"].to_pylist(), drift["field"].to_pylist(), strict=True))


def _differing(moved: pa.Table, base: pa.Table) -> pa.Table:
    """The rows of the new baseline that are not as they were; both have the same SKUs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    differs = pa.repeat(pa.scalar(value=False), moved.num_rows)
    for name in moved.column_names[1:]:
        one, other = moved[name].combine_chunks(), base[name].combine_chunks()
        same = pc.or_(pc.equal(one, other).fill_null(False), pc.and_(one.is_null(), other.is_null()))
        differs = pc.or_(differs, pc.invert(same))
    return moved.filter(differs)


def _tell(name: str, drift: pa.Table, result: Reconciled) -> None:
    import pyarrow.compute as pc

    counts = pc.value_counts(drift["cause"].combine_chunks()).to_pylist()
    said = ", ".join(f"{row['counts']} {row['values']}" for row in counts) or "nothing differs"
    log.info("reconcile: vendor %s: %s; %d lost confirmations settled", name, said, len(result.settled))
