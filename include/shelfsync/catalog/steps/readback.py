"""Reads SKUs of a job back from the platform's listing where no log reports them: an observation newer than the sending (I2, I7).

The listing shows price and availability only, and up to `SHELFSYNC_DRIFT__PROPAGATION_S` late. So a match counts only if the listing cannot
still show an older, equal value: no other value of the SKU was sent within that time.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.assortment import unknown_skus
from shelfsync.catalog.confirmed_by_listing import PROVABLE, Shown, listing_lines, perhaps_older, provable
from shelfsync.catalog.ledger import vendors
from shelfsync.catalog.outcome import match
from shelfsync.catalog.steps.evidence import sendings, sent_lately
from shelfsync.rows.alignment import column
from shelfsync.schemas import BASELINE, OUTCOME

if TYPE_CHECKING:
    from partner_api.catalog import CatalogEntry
    from shelfsync.catalog.ledger.jobs import CatalogJob
    from shelfsync.context import Context

log = logging.getLogger(__name__)

PRIORITY = "catalog"


def with_listing(context: Context, job: CatalogJob, items: pa.Table, outcomes: pa.Table) -> pa.Table:
    """The outcomes (OUTCOME schema), where a SKU that is unaccounted is accepted if the listing shows it as it was sent.

    A SKU that the listing does not prove stays unaccounted, with what the listing shows as its reason; the next delta sends it again. The
    outcomes stay as they are if the listing would cost too many requests. Raises what the request raises.
    """
    key = context.settings.platform.item_key
    left = column(outcomes, "sku").filter(pc.equal(column(outcomes, "state"), "unaccounted"))
    asked = provable(items.filter(pc.is_in(column(items, "sku"), value_set=left)))
    if job.attempts == 0 or not context.settings.sync.readback_requests_max or not asked.num_rows:
        return outcomes
    unknown = unknown_skus.unknown_now(context, job.vendor)
    entries = _entries(context, job.vendor, asked)
    unknown_skus.release_listed(context, job.vendor, unknown, [entry.sku for entry in entries])
    shown = [Shown(entry.sku, entry.barcodes, entry.price, entry.active) for entry in entries]
    lines = listing_lines(asked, shown, key, perhaps_older=_perhaps_older(context, job, asked))
    if not lines.num_rows:
        return outcomes
    listed = match(asked, lines, key)
    proven = pc.sum(pc.equal(listed["state"], "accepted")).as_py() or 0
    log.warning(
        "confirm: vendor %s, job %d: no log came; the listing shows %d of %d SKUs as they were sent",
        job.vendor,
        job.job_id,
        proven,
        items.num_rows,
    )
    listed = listed.filter(pc.is_in(column(listed, "sku"), value_set=pc.unique(column(lines, "sku").drop_null())))
    others = outcomes.filter(pc.invert(pc.is_in(column(outcomes, "sku"), value_set=column(listed, "sku"))))
    return pa.concat_tables([others, listed]).sort_by("sku").combine_chunks().cast(OUTCOME)


def _perhaps_older(context: Context, job: CatalogJob, asked: pa.Table) -> dict[str, set[str]]:
    """Field -> the SKUs whose listing may still show, as an older value, the one that this job sent."""
    with context.engine.connect() as connection:
        sent = sent_lately(connection, job.vendor, before=job.job_id, within_s=context.settings.drift.propagation_s)
        path = vendors.baseline_of_version(connection, job.vendor, sent[0].base_version) if sent else None
    if not sent:
        return {}
    before = BASELINE.empty_table() if path is None else context.lake.read_or_none(path)
    if before is None:  # then any value may be an older one
        return {name: set(asked["sku"].to_pylist()) for name in PROVABLE}
    return perhaps_older(asked, before, sendings(context, sent, column(asked, "sku")))


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
