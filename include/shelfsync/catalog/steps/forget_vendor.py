"""forget: a person takes a closed store out of runs, exports, promotions and status. Its history stays in the warehouse.

The next extract that has a row of it takes it in again.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from shelfsync.catalog.ledger import holds, vendors
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.steps.pause import give_up_old_plans, one_line, require_known

if TYPE_CHECKING:
    from shelfsync.context import Context

log = logging.getLogger(__name__)


def forget(context: Context, vendor: str, *, why: str, who: str) -> dict[str, Any]:
    """Returns `{"vendor", "skus", "in_flight", "lines"}`; `skus` stay on the platform as they are. DataError for an unknown vendor."""
    with context.engine.begin() as connection:
        require_known(vendor, vendors.names(connection), "forget")
        give_up_old_plans(connection, vendor, "the vendor was forgotten")
        flying = len(catalog_jobs.open_jobs(connection, vendors=(vendor,)))
        closed = holds.close(connection, vendor, who=one_line(who), why=f"the vendor was forgotten: {one_line(why)}")
        vendors.forget(connection, vendor, f"{one_line(why)} ({one_line(who)})")
        skus = vendors.acknowledged_skus(connection, vendor)
    log.warning("forget: vendor %s by %s: %s", vendor, who, why)
    lines = [
        f"{vendor} is forgotten: no run, export or promotion takes it along, and status does not show it",
        f"the platform still shows its {skus:,} SKUs as they are; nothing was sent",
        *([f"{closed} holds of it are closed; no one has to decide them"] if closed else []),
        *([f"{flying} jobs of it are on the platform; shelfsync still reads their outcomes"] if flying else []),
        "it comes back with the next extract that has a row of it; take it out of the ERP's SELECT or of SHELFSYNC_ERP__VENDOR_IDS",
    ]
    return {"vendor": vendor, "skus": skus, "in_flight": flying, "lines": lines}
