"""What was sent of some SKUs since the picture before, what the platform said to it, and what keeps them from being sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.ledger import holds, rejections
from shelfsync.ledger.tables import OPEN_JOB_STATES, batch, job
from shelfsync.warehouse import drift

if TYPE_CHECKING:
    import datetime as dt

    import pyarrow as pa

    from shelfsync.catalog.reconcile import Evidence
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.holds import Hold
    from shelfsync.ledger.observations import Observation
    from shelfsync.ledger.vendor_runs import LastSnapshot

JOBS_MAX = 400
"""How many of a vendor's newest jobs are read when there was no picture before: some days of deltas."""


def evidence_of(
    parts: Parts, seen: Observation, before: Observation | None, last: LastSnapshot | None, skus: pa.Array
) -> Evidence:
    """All that speaks about these SKUs of the picture's vendor; reads no file when there are none."""
    from shelfsync.catalog.reconcile import Evidence
    from shelfsync.columns import SENDING

    if not len(skus):
        return Evidence(SENDING.empty_table())
    wanted = set(skus.to_pylist())
    with parts.engine.connect() as connection:
        sent = _jobs(connection, seen, before, parts.settings.drift.propagation_s)
        refused = rejections.reasons(connection, seen.vendor)
        standing = holds.of_vendor(connection, seen.vendor, *holds.STANDING)
        earlier = {} if before is None else drift.drift_causes(connection, before.observation_id)
    return Evidence(
        sendings=_sendings(parts, sent, skus),
        refused={sku: reason for sku, reason in refused.items() if sku in wanted},
        held=_held(parts, last, standing),
        desired_is_newer=last is not None and last.read_at > seen.observed_at,
        earlier=earlier,
    )


def skus_not_shown_yet(parts: Parts, seen: Observation) -> list[pa.Array] | None:
    """The SKUs of each job that a picture cannot be trusted to show; None when there were too many to look."""
    from shelfsync.catalog.alignment import column

    with parts.engine.connect() as connection:
        late = _jobs(connection, seen, seen, parts.settings.drift.propagation_s)
    if len(late) >= JOBS_MAX:
        return None
    return [column(parts.lake.read_table(items_path, columns=["sku"]), "sku") for _, _, items_path, _, _ in late]


def _jobs(connection: sa.Connection, seen: Observation, before: Observation | None, propagation_s: float) -> list[Any]:
    """(number, state, file of items, file of outcomes, late) of the vendor's jobs that the picture before could not show, oldest first."""
    left = job.c.state != "superseded"  # it never left, or an identical one did
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
    """Jobs that a picture cannot be trusted to show: sent after it was asked for, open then or now, or hardly done."""
    ripe: dt.datetime = seen.observed_at
    young = job.c.settled_at > ripe - sa.func.make_interval(0, 0, 0, 0, 0, 0, propagation_s)
    after = job.c.job_id > (seen.last_job_id or 0)
    open_then = job.c.job_id == (seen.open_job_id or 0)
    return sa.or_(after, open_then, job.c.state.in_(OPEN_JOB_STATES), young, job.c.settled_at.is_(None))


def _sendings(parts: Parts, sent: list[Any], skus: pa.Array) -> pa.Table:
    """SENDING shape, oldest first, of these SKUs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.catalog.alignment import aligned, column
    from shelfsync.columns import FIELDS, SENDING

    tables = [SENDING.empty_table()]
    for number, state, items_path, outcomes_path, late in sent:
        items = parts.lake.read_table(items_path, columns=["sku", *FIELDS])
        items = items.filter(pc.is_in(items["sku"], value_set=skus))
        if not items.num_rows:
            continue
        count = items.num_rows
        silent = pa.repeat(pa.scalar("refused" if state == "refused" else "unaccounted"), count)
        if outcomes_path is not None:
            outcomes = parts.lake.read_table(outcomes_path, columns=["sku", "state"])
            silent = aligned(outcomes, column(items, "sku"), ["state"])["state"].fill_null("unaccounted")
        columns = {
            "job": pa.repeat(pa.scalar(number, pa.int64()), count),
            "state": silent,
            "late": pa.repeat(pa.scalar(late), count),
        }
        columns |= {name: column(items, name) for name in ("sku", *FIELDS)}
        tables.append(pa.Table.from_arrays([columns[name] for name in SENDING.names], schema=SENDING))
    return pa.concat_tables(tables)


def _held(parts: Parts, last: LastSnapshot | None, standing: list[Hold]) -> dict[str, str]:
    """SKU -> the guard that holds it: in the newest run, else in the holds that stand: a run that passes the guards with nothing to hold ends them."""
    if last is not None and last.held_path is not None:
        rows = parts.lake.read_table(last.held_path, columns=["sku", "reason"])
        return dict(zip(rows["sku"].to_pylist(), rows["reason"].to_pylist(), strict=True))
    found: dict[str, str] = {}
    for one in standing:
        found |= dict.fromkeys(parts.lake.read_table(one.rows_path, columns=["sku"])["sku"].to_pylist(), one.rule)
    return found
