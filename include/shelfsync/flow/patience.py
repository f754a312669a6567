"""patience: a vendor of whose requests nothing is ever taken waits longer and longer, and says so once a try (I13, I15).

Rows that are bad are found by halving, and each brings the good ones nearer. Where nothing comes of it at all, a setting is wrong or
the platform is in trouble: every request more is one that other vendors lack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.catalog.halving import wait_s
from shelfsync.errors import DataError
from shelfsync.ledger import runs, vendor_runs, vendors

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.batches import PlannedBatch
    from shelfsync.ledger.vendor_runs import VendorRun
    from shelfsync.ledger.vendors import Vendor

_MINUTE_S, _HOUR_S = 60, 3600


def why_wait(parts: Parts, connection: Connection, row: VendorRun, stands: Vendor, planned: PlannedBatch) -> str | None:
    """Why nothing more is sent for this vendor now; None: go on. The vendor of a run is busy as long as it waits, and the report says so.

    What a full sync or a person's urgent run has whole is sent at once: something may have been put right.
    """
    left_s = _wait_s(parts, stands) - stands.in_vain_for_s
    if left_s <= 0:
        return None
    run = runs.read_run(connection, row.run_id)
    if planned.halved_from is None and (run.full or run.skus):
        return None
    why = (
        f"the last {stands.in_vain} requests of this vendor were in vain, so nothing is sent for {_length(left_s)};"
        " sooner: shelfsync sync --full --vendor NAME"
    )
    if row.state == "open":
        vendor_runs.write(connection, row.run_id, row.vendor, state="busy", error=why)
    return why


def tell_when_lost(parts: Parts, vendor: str, words: str) -> None:
    """Raises the one line about a vendor that begins to wait; `words`: what the platform said last."""
    with parts.engine.begin() as connection:
        stands = vendors.lock(connection, vendor)
    pause_s = _wait_s(parts, stands)
    if pause_s:
        raise DataError(
            f"the platform did nothing for the last {stands.in_vain} requests of vendor {vendor}, down to single SKUs; the last time:"
            f" {words[:300]}. That looks like a setting or like trouble on the platform, not like data: compare"
            " SHELFSYNC_PLATFORM__KEY and SHELFSYNC_PLATFORM__SALES_LIMIT_NAME with what it says (ledger.job has all its words)."
            f" The next try is in {_length(pause_s)}; when it is put right: shelfsync sync --full --vendor {vendor}"
        )


def _wait_s(parts: Parts, stands: Vendor) -> float:
    settings = parts.settings.rejection
    return wait_s(stands.in_vain, settings.again_first_s, settings.again_max_s)


def _length(seconds: float) -> str:
    if seconds >= 2 * _HOUR_S:
        return f"{seconds / _HOUR_S:.0f} hours"
    return f"{max(seconds, _MINUTE_S) / _MINUTE_S:.0f} minutes"
