"""reconcile: compares the platform's export with the ERP's values and the baseline. Every difference gets a cause and an action."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.confirmed_by_export import with_confirmed
from shelfsync.catalog.drift import differences, undecided
from shelfsync.catalog.drift_action import with_action, with_resends
from shelfsync.catalog.drift_cause import find_causes
from shelfsync.catalog.erp_and_platform import products
from shelfsync.catalog.ledger import exports as export_jobs
from shelfsync.catalog.ledger import observations, rejections, vendor_runs, vendors
from shelfsync.catalog.steps.baseline_version import Move, move_baseline
from shelfsync.catalog.steps.evidence import evidence_of
from shelfsync.catalog.steps.export import LaterError, each_export
from shelfsync.catalog.steps.sales_buffers_file import buffers_of, rules_of
from shelfsync.catalog.warehouse import drift as drift_tables
from shelfsync.errors import MovedError
from shelfsync.platform.jobs.table import State
from shelfsync.schemas import BASELINE, FIELDS, OBSERVED, SNAPSHOT, completed
from shelfsync.vendors.lease import LeaseLostError, leased
from shelfsync.vendors.step_report import Skip, StepReport

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection

    from shelfsync.catalog.drift_cause import Reconciled
    from shelfsync.catalog.ledger.exports import ExportJob
    from shelfsync.catalog.ledger.observations import Observation
    from shelfsync.catalog.ledger.vendor_runs import LastSnapshot
    from shelfsync.catalog.ledger.vendors import BaselineVersion
    from shelfsync.catalog.sales_buffers import Rule
    from shelfsync.catalog.steps.baseline_version import Base
    from shelfsync.context import Context
    from shelfsync.vendors.lease import Lease

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Vendor:
    """The data of one vendor for the comparison with its observation."""

    seen: Observation
    base: BaselineVersion | None
    last: LastSnapshot | None
    before: Observation | None
    observed: pa.Table
    baseline: pa.Table
    desired: pa.Table | None
    quarantined: pa.Table | None
    resent: dict[tuple[str, str], int]

    @property
    def complete(self) -> bool:
        """Whether what is absent from `desired` has left the ERP."""
        return self.last is not None and self.last.complete


def reconcile(context: Context, run_key: str, names: Iterable[str]) -> StepReport:
    """Compares each vendor's newest observation. A value to resend becomes unknown in the baseline, so that the next delta sends it."""
    rules = rules_of(context.settings.suppression)

    def work(one: ExportJob) -> None:
        if one.state == State.ACKNOWLEDGED:
            raise Skip("done before")
        if one.state != State.CONFIRMED or one.observation_id is None:
            raise Skip(f"the export is {one.state}" + (f": {one.error}" if one.error else ""))
        # not `holding`: a lost lease is a later try of the whole export here, and no vendor passed over
        with leased(context.engine, one.vendor, context.settings.sync.lease_s) as lease:
            if lease is None:
                raise LaterError(f"reconcile: vendor {one.vendor}: another process is working on it")
            try:
                _reconcile(context, one, one.observation_id, rules, lease)
            except (LeaseLostError, MovedError) as error:
                raise LaterError(f"reconcile: {error}") from error

    return each_export(context, run_key, names, "reconcile", work)


def _reconcile(context: Context, one: ExportJob, observation_id: int, rules: list[Rule], lease: Lease) -> None:
    def compared(base: Base) -> Move:
        vendor = _gathered(context, one.vendor, observation_id, base)
        if vendor is None:
            _finish(context, one)
            raise Skip("a newer observation of this vendor was reconciled before")
        return _compared(context, one, vendor, rules)

    def still(connection: Connection) -> bool:
        return export_jobs.read(connection, one.job_id).state == State.CONFIRMED

    move_baseline(context, lease, one.vendor, compared, still=still)


def _gathered(context: Context, name: str, observation_id: int, base: Base) -> _Vendor | None:
    window_s = context.settings.drift.resends_window_days * 86400.0
    with context.engine.connect() as connection:
        seen = observations.read(connection, observation_id)
        newest = observations.newest(connection, name)
        if newest is not None and newest.observation_id != observation_id:
            return None
        before = observations.newest(connection, name, before=seen)
        last = vendor_runs.last_snapshot(connection, name)
        often = observations.resent_counts(connection, name, within_s=window_s)
    lake = context.lake
    return _Vendor(
        seen=seen,
        base=base.version,
        last=last,
        before=before,
        observed=lake.read_table(seen.path),
        baseline=completed(base.rows, BASELINE),
        desired=None if last is None else completed(lake.read_table(last.snapshot_path), SNAPSHOT),
        quarantined=None
        if last is None or last.quarantine_path is None
        else lake.read_table(last.quarantine_path, columns=["sku"]),
        resent=often,
    )


def _compared(context: Context, one: ExportJob, vendor: _Vendor, rules: list[Rule]) -> Move:
    """Finds the causes and chooses the actions: the corrected baseline, and what is committed with it."""
    last, before, effect = vendor.last, vendor.before, context.settings.suppression
    buffers = None if vendor.desired is None else buffers_of(vendor.desired, one.vendor, rules, effect)
    found = differences(
        vendor.observed,
        vendor.baseline,
        vendor.desired,
        previous=None if before is None else context.lake.read_if_kept(before.path, OBSERVED),
        complete=vendor.complete,
        quarantined=vendor.quarantined,
        buffers=buffers,
    )
    evidence = evidence_of(context, vendor.seen, before, last, found["sku"].combine_chunks().unique())
    result = find_causes(found, evidence)
    drift = with_action(result.drift, vendor.resent, context.settings.drift)
    blind = 0 if vendor.desired is None or buffers is None else undecided(vendor.observed, vendor.desired, buffers)
    return _corrected(one, vendor, result, drift, blind)


def _corrected(one: ExportJob, vendor: _Vendor, result: Reconciled, drift: pa.Table, blind: int) -> Move:
    resend, reject = _of(drift, "resend"), _of(drift, "reject")
    name, number = one.vendor, vendor.seen.observation_id
    moved = with_confirmed(with_resends(vendor.baseline, resend), vendor.observed, result.confirmed)
    known = products(
        vendor.observed,
        vendor.baseline,
        vendor.desired,
        complete=vendor.complete,
        quarantined=vendor.quarantined,
    )
    generation = 0 if vendor.base is None else vendor.base.generation
    rows = None if vendor.base is None or moved.equals(vendor.baseline) else moved

    def also(connection: Connection) -> None:
        observations.remember_resent(connection, name, number, _pairs(resend))
        rejections.release(connection, name, _skus_of(resend, "rejected"))
        _reject(connection, vendor, reject)
        drift_tables.replace_drift(connection, name, number, vendor.seen.observed_at, drift)
        drift_tables.merge_products(connection, name, vendor.seen.observed_at, known)
        export_jobs.reconciled(
            connection,
            one,
            drifts=drift.num_rows,
            resent=resend.num_rows,
            confirmed=len(result.confirmed),
            undecided=blind,
        )

    def report() -> None:
        _log(name, drift, result)

    return Move(rows, generation, also, report, observation_id=number)


def _finish(context: Context, one: ExportJob) -> None:
    with context.engine.begin() as connection:
        export_jobs.reconciled(connection, one, drifts=0, resent=0, confirmed=0, undecided=0)


def _reject(connection: Any, vendor: _Vendor, reject: pa.Table) -> None:
    """Rejects drift that returned after several resends. Only a change in the ERP or a full sync sends it again."""
    if not reject.num_rows:
        return
    job_id = vendors.last_job(connection, vendor.seen.vendor)
    if job_id is None or vendor.desired is None:
        return
    wanted = {row["sku"]: row for row in vendor.desired.select(["sku", "barcode", *FIELDS]).to_pylist()}
    blank: dict[str, Any] = {**dict.fromkeys(("barcode", *FIELDS)), "active": False}
    rows: dict[str, dict[str, Any]] = {}
    for row in reject.to_pylist():
        sku = row["sku"]
        times = vendor.resent.get((sku, row["field"]), 0)
        history = f"returned after {times} resends" if times else "is not sent again"
        # no value: rejections are counted by reason, and the drift has its values
        reason = f"drift {history}: {row['field']} ({row['cause'].replace('_', ' ')})"
        rows[sku] = {**wanted.get(sku, {"sku": sku, **blank}), "reason": reason, "kind": "drifted"}
    rejections.remember(connection, vendor.seen.vendor, job_id, list(rows.values()))


def _of(drift: pa.Table, action: str) -> pa.Table:
    return drift.filter(pc.equal(drift["action"], action))


def _skus_of(drift: pa.Table, cause: str) -> list[str]:
    found: list[str] = drift.filter(pc.equal(drift["cause"], cause))["sku"].unique().to_pylist()
    return found


def _pairs(drift: pa.Table) -> list[tuple[str, str]]:
    return list(zip(drift["sku"].to_pylist(), drift["field"].to_pylist(), strict=True))


def _log(name: str, drift: pa.Table, result: Reconciled) -> None:
    counts = pc.value_counts(drift["cause"].combine_chunks()).to_pylist()
    causes = ", ".join(f"{row['counts']} {row['values']}" for row in counts) or "nothing differs"
    log.info("reconcile: vendor %s: %s; %d lost confirmations replaced", name, causes, len(result.confirmed))
