"""An urgent run: of some vendors a few named SKUs at once, and of all others nothing.

It walks the whole path, guards and all, so that what it knows and asks is what a delta knows and asks; only what was released is cut
to the SKUs that were named. The others stay different from what was acknowledged, and the next delta sends them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.errors import ConfigurationError
from shelfsync.flow.deliver import deliver
from shelfsync.flow.open_job import finish_open_job
from shelfsync.flow.wait import ask, until_none
from shelfsync.ledger import jobs

if TYPE_CHECKING:
    import pyarrow as pa

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.jobs import Job
    from shelfsync.ledger.runs import Run

PATIENCE_S = 300.0
"""How long an urgent run waits for a job of its vendor that is open: no other may be sent meanwhile."""

_BECAME = """
SELECT vr.vendor, named.sku, outcome.state, outcome.reason, known.rows IS NOT NULL AS known
FROM ledger.vendor_run AS vr
CROSS JOIN unnest(CAST(:skus AS text[])) AS named (sku)
LEFT JOIN LATERAL (
    SELECT o.state, o.reason FROM warehouse.sku_outcome AS o
    JOIN ledger.job USING (job_id) JOIN ledger.batch USING (batch_id)
    WHERE batch.run_id = vr.run_id AND o.vendor = vr.vendor AND o.sku = named.sku ORDER BY o.job_id DESC LIMIT 1
) AS outcome ON true
LEFT JOIN LATERAL (
    SELECT 1 AS rows FROM warehouse.baseline AS b WHERE b.vendor = vr.vendor AND b.sku = named.sku
) AS known ON true
WHERE vr.run_id = :run
ORDER BY vr.vendor, named.sku
"""


def check(kind: str, vendors: tuple[str, ...], skus: tuple[str, ...]) -> None:
    """An urgent run names its vendors, and is no full sync; a ConfigurationError otherwise."""
    if skus and not vendors:
        raise ConfigurationError(
            "sku", "no vendor was named", "Say of which vendor: `shelfsync sync --vendor VENDOR --sku SKU`."
        )
    if skus and kind == "full":
        raise ConfigurationError("sku", "a full sync sends every SKU", "Leave out --full, or --sku.")


def named(released: pa.Table, baseline: pa.Table, skus: tuple[str, ...]) -> pa.Table:
    """Of what was released (DELTA shape) the SKUs of an urgent run; everything when none is named."""
    if not skus:
        return released
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.catalog import companion

    return companion.alone(released.filter(pc.is_in(released["sku"], value_set=pa.array(skus, pa.string()))), baseline)


async def clear_the_way(parts: Parts, vendors: tuple[str, ...]) -> list[str]:
    """Waits until no job of these vendors is open, and finishes what has ended; the vendors of which one still is.

    A request that a dead process left unanswered is sent again, identical: the schedule would do so in some minutes.
    """
    await until_none(parts, partial(_open, parts, vendors), partial(ask, parts), deadline_s=PATIENCE_S)
    return sorted({job.vendor for job in _open(parts, vendors)})


def _open(parts: Parts, vendors: tuple[str, ...]) -> list[Job]:
    with parts.engine.connect() as connection:
        found = jobs.open_jobs(connection, vendors=vendors)
    return [left for left in (_finished(parts, job) for job in found) if left is not None]


def _finished(parts: Parts, job: Job) -> Job | None:
    """What is left of it after the next step that can be done for it now."""
    if job.state == "submitting":
        deliver(parts, job.run_id, [job.vendor])
    return finish_open_job(parts, job)[0]


def lines(connection: sa.Connection, run: Run) -> list[str]:
    """What became of each SKU of an urgent run, for the person who asked; nothing of other runs and of plans."""
    if not run.skus or run.dry_run:
        return []
    rows = connection.execute(sa.text(_BECAME), {"run": run.run_id, "skus": list(run.skus)}).mappings()
    return [f"vendor {row['vendor']}, SKU {row['sku']!r}: {_became(dict(row))}" for row in rows]


def _became(row: dict[str, Any]) -> str:
    if row["state"] is not None:
        return f"{row['state']}" + (f": {row['reason']}" if row["reason"] else "")
    if row["known"]:
        return "not sent: it is as acknowledged, or held or refused; `shelfsync explain` says which"
    return "not sent, and never acknowledged: is it in the ERP, and is it spelt so there?"
