"""Evidence about some SKUs: what was sent since the observation before, its outcomes, and what prevents sending."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from shelfsync.catalog.drift_cause import Evidence
from shelfsync.catalog.ledger import rejections
from shelfsync.catalog.ledger.tables import batch
from shelfsync.catalog.warehouse import drift
from shelfsync.decisions.ledger import holds
from shelfsync.decisions.state import HELD, Subject
from shelfsync.platform.jobs.table import OPEN_STATES, State, job
from shelfsync.rows.alignment import aligned, column
from shelfsync.schemas import FIELDS, SENDING
from shelfsync.store.metadata import after

if TYPE_CHECKING:
    import datetime as dt

    from shelfsync.catalog.ledger.observations import Observation
    from shelfsync.catalog.ledger.vendor_runs import LastSnapshot
    from shelfsync.context import Context
    from shelfsync.decisions.hold import Hold

JOBS_MAX = 400
"""How many of a vendor's newest jobs are read if there is no earlier observation: some days of deltas."""


def evidence_of(
    context: Context, seen: Observation, before: Observation | None, last: LastSnapshot | None, skus: pa.Array
) -> Evidence:
    """The evidence about these SKUs of the observation's vendor; reads no file if there are none."""
    if not len(skus):
        return Evidence(SENDING.empty_table())
    wanted = set(skus.to_pylist())
    with context.engine.connect() as connection:
        sent = _jobs(connection, seen, before, context.settings.drift.propagation_s)
        rejected = rejections.reasons(connection, seen.vendor)
        current = holds.of_vendor(connection, Subject.CATALOG, seen.vendor, *HELD)
        earlier = {} if before is None else drift.drift_causes(connection, before.observation_id)
    return Evidence(
        sendings=sendings(context, sent, skus),
        rejected={sku: reason for sku, reason in rejected.items() if sku in wanted},
        held=_held(context, last, current),
        desired_is_newer=last is not None and last.read_at > seen.observed_at,
        earlier=earlier,
    )


def _jobs(connection: sa.Connection, seen: Observation, before: Observation | None, propagation_s: float) -> list[Any]:
    """(number, state, items, outcomes, late) of the vendor's jobs that the observation before could not show, oldest first."""
    left = job.c.state != State.SUPERSEDED  # it was never sent, or an identical one was
    statement = (
        sa.select(
            job.c.job_id, job.c.state, batch.c.items_path, job.c.outcomes_path, _late(seen, propagation_s).label("late")
        )
        .join(batch, batch.c.batch_id == job.c.batch_id)
        .where(job.c.vendor == seen.vendor, left)
    )
    if before is not None:
        statement = statement.where(_late(before, propagation_s))
    rows = connection.execute(statement.order_by(job.c.job_id.desc()).limit(JOBS_MAX)).all()
    return list(reversed(rows))


def _late(seen: Observation, propagation_s: float) -> sa.ColumnElement[bool]:
    """Jobs that an observation may not show: sent after the request, open then or now, or ended too recently."""
    ripe: dt.datetime = seen.observed_at
    young = job.c.ended_at > ripe - sa.func.make_interval(0, 0, 0, 0, 0, 0, propagation_s)
    after = job.c.job_id > (seen.last_job_id or 0)
    open_then = job.c.job_id.in_(seen.open_job_ids or [])
    return sa.or_(after, open_then, job.c.state.in_(OPEN_STATES), young, job.c.ended_at.is_(None))


def sent_lately(connection: sa.Connection, vendor: str, *, before: int, within_s: float) -> list[Any]:
    """The vendor's jobs older than the job `before` whose values a listing may not show yet, oldest first; for `sendings`.

    Each with the version of the baseline that it was planned against (`base_version`).
    """
    young = sa.or_(job.c.ended_at > after(-within_s), job.c.ended_at.is_(None))
    statement = (
        sa.select(
            *(job.c.job_id, job.c.state, batch.c.items_path, job.c.outcomes_path, sa.literal(value=True).label("late")),
            batch.c.base_version,
        )
        .join(batch, batch.c.batch_id == job.c.batch_id)
        .where(job.c.vendor == vendor, job.c.job_id < before, job.c.state != State.SUPERSEDED, young)
    )
    return list(connection.execute(statement.order_by(job.c.job_id)).all())


def sendings(context: Context, sent: list[Any], skus: pa.Array) -> pa.Table:
    """SENDING schema, oldest first, of these SKUs. `sent`: (number, state, items, outcomes, late, ...) of each job."""
    tables = [SENDING.empty_table()]
    for number, state, items_path, outcomes_path, late, *_ in sent:
        items = context.lake.read_table(items_path, columns=["sku", *FIELDS])
        items = items.filter(pc.is_in(items["sku"], value_set=skus))
        if not items.num_rows:
            continue
        count = items.num_rows
        states = pa.repeat(pa.scalar("rejected" if state == State.REJECTED else "unaccounted"), count)
        if outcomes_path is not None:
            outcomes = context.lake.read_table(outcomes_path, columns=["sku", "state"])
            states = aligned(outcomes, column(items, "sku"), ["state"])["state"].fill_null("unaccounted")
        columns = {
            "job": pa.repeat(pa.scalar(number, pa.int64()), count),
            "state": states,
            "late": pa.repeat(pa.scalar(late), count),
        }
        columns |= {name: column(items, name) for name in ("sku", *FIELDS)}
        tables.append(pa.Table.from_arrays([columns[name] for name in SENDING.names], schema=SENDING))
    return pa.concat_tables(tables)


def _held(context: Context, last: LastSnapshot | None, current: list[Hold]) -> dict[str, str]:
    """SKU -> the guard that holds it, in the newest run, else in the current holds."""
    if last is not None and last.held_path is not None:
        rows = context.lake.read_table(last.held_path, columns=["sku", "reason"])
        return dict(zip(rows["sku"].to_pylist(), rows["reason"].to_pylist(), strict=True))
    found: dict[str, str] = {}
    for hold in current:
        found |= dict.fromkeys(context.lake.read_table(hold.rows_path, columns=["sku"])["sku"].to_pylist(), hold.rule)
    return found
