"""take_off_sale: a person closes a store, so every product of it that is on sale goes off sale, by ordinary jobs with an outcome for each SKU.

No guard asks about it, because a person ordered it. If the process dies, `recover` completes what is planned, and a repeated order sends the rest.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shelfsync.catalog.assortment.acknowledged_rows import acknowledged_rows
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.ledger import jobs, observations, runs, vendor_runs, vendors
from shelfsync.catalog.state import VendorState
from shelfsync.catalog.steps import counts
from shelfsync.catalog.steps.pause import give_up_old_plans, require_known
from shelfsync.catalog.steps.run import open_run
from shelfsync.catalog.steps.sync import finish
from shelfsync.catalog.steps.urgent import clear_the_way
from shelfsync.errors import StoppedError, TryAgainError
from shelfsync.platform import kill_switch
from shelfsync.rows.alignment import column
from shelfsync.schemas import BASELINE, OBSERVED, SNAPSHOT, completed

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from shelfsync.context import Context

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class OnSale:
    """What of a vendor is on sale, or may be: `rows` in DELTA schema, which take it off sale."""

    acknowledged: int
    """SKUs that the baseline does not have as off sale."""
    observed: int
    """SKUs that only the newest export or listing has, on sale."""
    known: int
    """SKUs of the baseline and those."""
    open_jobs: int
    """Jobs of the vendor that have not ended; what they put on sale is not in these numbers."""
    base_version: int
    rows: pa.Table

    @property
    def skus(self) -> int:
        """How many are on sale."""
        return self.acknowledged + self.observed

    @property
    def may_be_any(self) -> bool:
        """Whether any is on sale, or may be once the open jobs have ended."""
        return bool(self.skus or self.open_jobs)

    @property
    def line(self) -> str:
        """For a person."""
        seen = f", {self.observed:,} of them only by the newest export" if self.observed else ""
        flying = f" ({self.open_jobs} open jobs may put more on sale)" if self.open_jobs else ""
        return f"{self.skus:,} of {self.known:,} products are on sale{seen}{flying}"


def on_sale(context: Context, vendor: str) -> OnSale:
    """Read from the baseline and the newest observation. A DataError: the ledger has never seen the vendor."""
    import pyarrow as pa
    import pyarrow.compute as pc

    with context.engine.connect() as connection:
        require_known(vendor, vendors.names(connection), "forget")
        base = vendors.current_baseline(connection, vendor)
        seen = observations.newest(connection, vendor)
        open_jobs = len(jobs.open_jobs(connection, vendors=(vendor,)))
    baseline = completed(acknowledged_rows(context, vendor, base), BASELINE)
    shown = completed(context.lake.read_or_empty(None if seen is None else seen.path, OBSERVED), OBSERVED)
    unknown = pc.invert(pc.is_in(column(shown, "sku"), value_set=column(baseline, "sku")))
    extra = shown.filter(pc.and_(unknown, column(shown, "active").fill_null(False)))
    extra = completed(extra.select(["sku", "barcode", "active"]), BASELINE).select(BASELINE.names).cast(BASELINE)
    every = pa.concat_tables([baseline, extra]).sort_by("sku")
    return OnSale(
        acknowledged=pc.sum(column(baseline, "active").fill_null(True)).as_py() or 0,
        observed=extra.num_rows,
        known=every.num_rows,
        open_jobs=open_jobs,
        base_version=0 if base is None else base.version,
        rows=compute_delta(SNAPSHOT.empty_table(), every, full=False, key=context.settings.platform.item_key),
    )


def take_off_sale(
    context: Context, vendor: str, *, key: str, progress: Callable[[str, int, int], None]
) -> dict[str, Any]:
    """Sends it, waits for every outcome, and returns the run's report. If it raises, nothing new was sent.

    StoppedError: sending to the vendor is paused. TryAgainError: a job of the vendor is still open, or another process plans for it.
    """
    with context.engine.connect() as connection:
        stop = kill_switch.stopped(connection, vendor)
    if stop is not None:
        raise StoppedError(f"take_off_sale: vendor {vendor}: {stop}. Nothing was done")
    if asyncio.run(clear_the_way(context, (vendor,))):
        raise TryAgainError(
            f"take_off_sale: a job of vendor {vendor} is still open on the platform; nothing new was sent. Run it again later"
        )
    run_id = open_run(context, kind="delta", key=key, vendors=(vendor,), dry_run=False)
    with runs.at_work(context.engine, run_id, whole=True):
        found = on_sale(context, vendor)
        path = context.lake.write_table("released", vendor, found.rows)
        with context.engine.begin() as connection:
            vendors.lock(connection, vendor, whole=True)
            give_up_old_plans(connection, vendor, "a person takes the store off sale")
            vendor_runs.begin(
                connection,
                run_id,
                vendor,
                generation=vendor_runs.next_generation(connection),
                released_path=path,
                base_version=found.base_version,
                changes_removed=found.rows.num_rows,
                state=VendorState.OPEN if found.rows.num_rows else VendorState.UNCHANGED,
            )
        log.warning("take_off_sale: vendor %s: %s", vendor, found.line)
        summary = finish(context, run_id, [{"vendors": [vendor]}], progress)
    of_the_erp = counts.lines(
        summary["counts"]
    )  # the store's last reading, which is closed now: its rows are not pending
    return {**summary, "counts": None, "lines": [line for line in summary["lines"] if line not in of_the_erp]}
