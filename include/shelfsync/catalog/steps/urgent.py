"""An urgent run: sends a few named SKUs of some vendors at once, and nothing else.

It does all steps, with the guards, so that it holds the same changes as a delta. Only the released rows are reduced to the named
SKUs. The next delta sends the others, which still differ from the baseline.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.state import VendorState
from shelfsync.catalog.steps.recover import recover_open
from shelfsync.errors import ConfigurationError
from shelfsync.platform.jobs.wait import GRACE_S, until_none

if TYPE_CHECKING:
    from sqlalchemy.engine import RowMapping

    from shelfsync.catalog.ledger.jobs import CatalogJob
    from shelfsync.catalog.ledger.runs import Run
    from shelfsync.context import Context

WAIT_S = 300.0
"""How long an urgent run waits for an open job of its vendor, which prevents any other."""

_BECAME = """
SELECT vr.vendor, named.sku, outcome.state, outcome.reason, known.rows IS NOT NULL AS known,
       vr.state AS vendor_state, vr.error, vr.released_path, flying.job_id,
       EXISTS (SELECT FROM ledger.batch WHERE batch.run_id = vr.run_id AND batch.vendor = vr.vendor AND batch.state = 'planned') AS planned
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
LEFT JOIN LATERAL (
    SELECT max(job.job_id) AS job_id FROM ledger.job JOIN ledger.batch USING (batch_id)
    WHERE batch.run_id = vr.run_id AND batch.vendor = vr.vendor AND job.state IN ('submitting', 'open', 'confirmed')
) AS flying ON true
WHERE vr.run_id = :run
ORDER BY vr.vendor, named.sku
"""


def check(kind: str, vendors: tuple[str, ...], skus: tuple[str, ...]) -> None:
    """An urgent run names its vendors, and is no full sync; a ConfigurationError otherwise."""
    if skus and not vendors:
        raise ConfigurationError(
            "sku", "no vendor was named", "Name the vendor: `shelfsync sync --vendor VENDOR --sku SKU`."
        )
    if skus and kind == "full":
        raise ConfigurationError("sku", "a full sync sends every SKU", "Leave out --full, or --sku.")


async def clear_the_way(context: Context, vendors: tuple[str, ...]) -> list[str]:
    """Waits until no job of these vendors is open, and finishes ended ones; returns the vendors that still have one.

    An unanswered request of a dead process is sent again, identical. Otherwise the schedule would do so minutes later.
    """
    await until_none(context, partial(_open, context, vendors), deadline_s=WAIT_S - GRACE_S)
    return sorted({job.vendor for job in _open(context, vendors)})


def _open(context: Context, vendors: tuple[str, ...]) -> list[CatalogJob]:
    """Recovers these vendors; returns their jobs that are still open."""
    recover_open(context, vendors)
    with context.engine.connect() as connection:
        return catalog_jobs.open_jobs(connection, vendors=vendors)


def lines(context: Context, run: Run) -> list[str]:
    """One line for each SKU of an urgent run with its outcome; empty for other runs and for plans."""
    if not run.skus or run.dry_run:
        return []
    with context.engine.connect() as connection:
        rows = connection.execute(sa.text(_BECAME), {"run": run.run_id, "skus": list(run.skus)}).mappings().all()
    left = {row["released_path"] for row in rows if row["released_path"] and (row["job_id"] or row["planned"])}
    released = {path: set(context.lake.read_table(path, ["sku"])["sku"].to_pylist()) for path in left}
    return [
        f"vendor {row['vendor']}, SKU {row['sku']!r}: {_became(row, row['sku'] in released.get(row['released_path'], ()))}"
        for row in rows
    ]


def _became(row: RowMapping, let_go: bool) -> str:
    """`let_go`: the guards released the SKU, and a request of its vendor has no outcome."""
    if row["state"] is not None:
        return f"{row['state']}" + (f": {row['reason']}" if row["reason"] else "")
    if let_go and row["planned"]:
        return "not sent yet: its request is planned, and the next run sends its newest values"
    if let_go:
        return f"sent, without an outcome yet: `shelfsync recover` reads that of job {row['job_id']}"
    if row["vendor_state"] in {VendorState.BUSY, VendorState.FAILED, VendorState.SUPERSEDED}:
        return f"not sent: the vendor is {row['vendor_state']}: {row['error'] or 'its last job is still open'}"
    if row["known"]:
        return "not sent: it equals the baseline, or is held or rejected; `shelfsync explain` shows which"
    return "not sent, and never acknowledged: check that it is in the ERP with this spelling"
