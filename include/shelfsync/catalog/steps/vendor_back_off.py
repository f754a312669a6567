"""When the next request of a vendor has to wait, because the last ones had an outcome for no SKU at all.

Then a setting is wrong or the platform fails, and more requests would only take the rate limit of other vendors. So the vendor waits longer
after each few failures in a row, and reports it once a try (I13, I15).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.back_off import back_off_s
from shelfsync.catalog.ledger import runs, vendor_runs, vendors
from shelfsync.catalog.state import VendorState
from shelfsync.errors import DataError

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.catalog.ledger.batches import PlannedBatch
    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.catalog.ledger.vendors import Vendor
    from shelfsync.context import Context

BACKOFF_AFTER = 50
"""Consecutive failures after which the vendor backs off: bad rows do not explain so many."""
BACKOFF_EVERY = 10
"""Further failures after which the vendor backs off again, twice as long."""
_MINUTE_S, _HOUR_S = 60, 3600


def wait_s(failures: int, first_s: float, max_s: float) -> float:
    """Seconds to wait after this number of consecutive failures: none before BACKOFF_AFTER.

    From there every BACKOFF_EVERY failures count as one more of the back-off.
    """
    backed_off, rest = divmod(failures - BACKOFF_AFTER, BACKOFF_EVERY)
    return 0.0 if rest else back_off_s(backed_off + 1, first_s, max_s)


def why_wait(connection: Connection, row: VendorRun, state: Vendor, planned: PlannedBatch) -> str | None:
    """Why nothing more is sent for this vendor now; None: continue. The vendor of the run is busy while it waits.

    A whole batch of a full sync or of an urgent run is sent at once, because the cause may have been corrected.
    """
    if not state.retry_in_s:
        return None
    run = runs.read_run(connection, row.run_id)
    if planned.halved_from is None and (run.full or run.skus):
        return None
    why = (
        f"the last {state.consecutive_failures} requests of this vendor failed, so nothing is sent for {_length(state.retry_in_s)};"
        " sooner: `shelfsync sync --full --vendor NAME`"
    )
    if row.state == VendorState.OPEN:
        vendor_runs.write(connection, row.run_id, row.vendor, state=VendorState.BUSY, error=why)
    return why


def count_failure(context: Context, connection: Connection, vendor: str) -> None:
    """Counts a request of this vendor without an outcome for any SKU. After too many in a row the next one waits."""
    pause_s = _wait_s(context, vendors.count_failure(connection, vendor))
    if pause_s:
        vendors.retry_after(connection, vendor, pause_s)


def raise_if_waiting(context: Context, vendor: str, words: str) -> None:
    """Raises a DataError if the vendor's next request has to wait. `words`: the platform's last message."""
    with context.engine.connect() as connection:
        state = vendors.read(connection, vendor)
    pause_s = _wait_s(context, state.consecutive_failures)
    if pause_s:
        raise DataError(
            f"the platform processed none of the last {state.consecutive_failures} requests of vendor {vendor}, down to single SKUs. Its last message:"
            f" {words[:300]}. The cause is probably a setting or a failure of the platform, not the data. Compare"
            " SHELFSYNC_PLATFORM__ITEM_KEY and SHELFSYNC_PLATFORM__SALES_LIMIT_NAME with its messages (all are in ledger.job)."
            f" shelfsync retries in {_length(pause_s)}. After a correction, run: `shelfsync sync --full --vendor {vendor}`"
        )


def _wait_s(context: Context, consecutive_failures: int) -> float:
    settings = context.settings.rejection
    return wait_s(consecutive_failures, settings.retry_first_s, settings.retry_max_s)


def _length(seconds: float) -> str:
    if seconds >= 2 * _HOUR_S:
        return f"{seconds / _HOUR_S:.0f} hours"
    return f"{max(seconds, _MINUTE_S) / _MINUTE_S:.0f} minutes"
