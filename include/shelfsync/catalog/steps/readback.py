"""readback: ends a job without status and log by the platform's listing, if that costs no more requests than sending it again."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from partner_api.errors import PartnerError
from shelfsync.catalog.ledger import batches
from shelfsync.catalog.steps import rejected_skus
from shelfsync.catalog.steps.outcomes import write_outcomes
from shelfsync.errors import TryAgainError

if TYPE_CHECKING:
    import pyarrow as pa

    from partner_api.catalog import CatalogEntry
    from shelfsync.catalog.ledger.jobs import CatalogJob
    from shelfsync.context import Context
    from shelfsync.store.leases import Lease

log = logging.getLogger(__name__)

PRIORITY = "catalog"


def read_back(context: Context, job: CatalogJob, lease: Lease) -> bool:
    """Confirms the job by the listing, which is newer than the sending; False if the listing proves nothing.

    A SKU that it does not prove is unaccounted, and the next delta sends it again (I7).
    """
    import pyarrow.compute as pc

    from shelfsync.catalog.confirm import match
    from shelfsync.catalog.readback import Shown, lines, provable

    with context.engine.connect() as connection:
        batch = batches.read(connection, job.batch_id)
    if job.attempts == 0 or not context.settings.sync.readback_requests_max:
        return False
    items, key = context.lake.read_table(batch.items_path), context.settings.platform.item_key
    asked = provable(items)
    if not asked.num_rows:
        return False
    unknown = rejected_skus.unknown_now(context, job.vendor)
    try:
        entries = _entries(context, job.vendor, asked)
    except (PartnerError, TryAgainError) as error:  # rejected, or not allowed now: the job ends anyway
        log.warning("confirm: vendor %s, job %d: the listing proves nothing: %s", job.vendor, job.job_id, error)
        return False
    rejected_skus.release_listed(context, job.vendor, unknown, [entry.sku for entry in entries])
    shown = [Shown(entry.sku, entry.barcodes, entry.price, entry.active) for entry in entries]
    outcomes = match(items, lines(items, shown, key), key)
    proven = pc.sum(pc.equal(outcomes["state"], "accepted")).as_py() or 0
    if not proven:
        return False
    write_outcomes(context, lease, job, batch, items, outcomes)
    log.warning(
        "confirm: vendor %s, job %d: no log came; the listing shows %d of %d SKUs as they were sent",
        job.vendor,
        job.job_id,
        proven,
        items.num_rows,
    )
    return True


def _entries(context: Context, vendor: str, asked: pa.Table) -> list[CatalogEntry]:
    """Products of the listing: a search for each SKU if they are few, else page by page, within the allowed number of requests."""
    most = context.settings.sync.readback_requests_max
    platform = context.open_platform()
    if context.settings.platform.item_key == "sku" and asked.num_rows <= most:
        found: list[CatalogEntry] = []
        for sku in asked["sku"].to_pylist():
            page = platform.list_catalog(vendor, query_term=sku, priority=PRIORITY)
            found += [entry for entry in page.products if entry.sku == sku]
        return found
    found, number, pages = [], 1, 1
    while number <= pages:
        page = platform.list_catalog(vendor, number, priority=PRIORITY)
        pages = page.total_pages or number
        if pages > most or (page.page_number or number) != number:
            return []  # too many requests, or the same page again and again
        found += page.products
        number += 1
    return found
