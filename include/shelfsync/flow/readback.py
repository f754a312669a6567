"""readback: a job whose status and log never came is ended by the platform's listing, where that costs no more than sending it again."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from partner_api.errors import PartnerError
from shelfsync.errors import TryAgainError
from shelfsync.flow import rejected
from shelfsync.flow.outcomes import write_outcomes
from shelfsync.ledger import batches

if TYPE_CHECKING:
    import pyarrow as pa

    from partner_api.models.catalog import CatalogEntry
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.jobs import Job
    from shelfsync.ledger.leases import Lease

log = logging.getLogger(__name__)

LANE = "catalog"


def read_back(parts: Parts, job: Job, lease: Lease) -> bool:
    """Confirms the job by what the listing shows now, which is newer than the sending; False when it shows nothing of use.

    Of what it does not prove nobody knows anything: unaccounted, and said again by the next delta (I7).
    """
    import pyarrow.compute as pc

    from shelfsync.catalog.confirm import match
    from shelfsync.catalog.readback import Shown, lines, provable

    with parts.engine.connect() as connection:
        batch = batches.read(connection, job.batch_id)
    if job.attempts == 0 or not parts.settings.sync.readback_requests_max:
        return False
    items, key = parts.lake.read_table(batch.items_path), parts.settings.platform.key
    asked = provable(items)
    if not asked.num_rows:
        return False
    unknown = rejected.unknown_now(parts, job.vendor)
    try:
        entries = _entries(parts, job.vendor, asked)
    except (PartnerError, TryAgainError) as error:  # refused, or not let out now: the job's time is over all the same
        log.warning("confirm: vendor %s, job %d: the listing tells nothing: %s", job.vendor, job.job_id, error)
        return False
    rejected.release_listed(parts, job.vendor, unknown, [entry.sku for entry in entries])
    shown = [Shown(entry.sku, entry.barcodes, entry.price, entry.active) for entry in entries]
    outcomes = match(items, lines(items, shown, key), key)
    proven = pc.sum(pc.equal(outcomes["state"], "accepted")).as_py() or 0
    if not proven:
        return False
    write_outcomes(parts, lease, job, batch, items, outcomes)
    log.warning(
        "confirm: vendor %s, job %d: no log came; the listing shows %d of %d SKUs as they were sent",
        job.vendor,
        job.job_id,
        proven,
        items.num_rows,
    )
    return True


def _entries(parts: Parts, vendor: str, asked: pa.Table) -> list[CatalogEntry]:
    """Products of the listing: searched one by one where they are few, else page by page; within the number of requests allowed."""
    most = parts.settings.sync.readback_requests_max
    platform = parts.open_platform()
    if parts.settings.platform.key == "sku" and asked.num_rows <= most:
        found: list[CatalogEntry] = []
        for sku in asked["sku"].to_pylist():
            page = platform.list_catalog(vendor, query_term=sku, lane=LANE)
            found += [entry for entry in page.products if entry.sku == sku]
        return found
    found, number, pages = [], 1, 1
    while number <= pages:
        page = platform.list_catalog(vendor, number, lane=LANE)
        pages = page.total_pages or number
        if pages > most or (page.page_number or number) != number:
            return []  # too dear, or it gives the same page again and again
        found += page.products
        number += 1
    return found
