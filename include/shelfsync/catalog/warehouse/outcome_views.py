"""The catalog's views of outcomes: how much the platform accepts, why it rejects SKUs, and what it rejects now."""

from __future__ import annotations

from shelfsync.catalog.ledger.rejections import VALUE_AT_STAKE
from shelfsync.store.metadata import View


def day_of(instant: str) -> str:
    """SQL of the day of an instant, UTC."""
    return f"CAST(({instant} AT TIME ZONE 'UTC') AS date)"


def _what_to_do(released: str) -> str:
    """SQL of what the operator should do about a rejection of some `kind`. `released`: the condition that something has released it."""
    return f"""CASE WHEN {released} THEN 'Nothing: it was released, and the next run sends it again.'
        WHEN kind = 'unknown_sku' THEN 'Have the product created on the platform, or take it out of the ERP''s rows for this vendor. '
            || 'It is sent again when an export or a listing shows it, when its row changes, or with the next full sync.'
        WHEN kind = 'invalid_value' THEN 'Correct the value in the ERP. '
            || 'It is sent again when the value changes, or with the next full sync.'
        WHEN kind = 'drifted' THEN 'Find out who changes it on the platform: the portal, another integration, its support. '
            || 'It is sent again when its row changes, with the next full sync, or when an operator releases it.'
        WHEN kind = 'for_now' THEN 'Nothing: shelfsync sends it again at next_try_at. '
            || 'If it stays for days, ask the platform''s support.'
        ELSE 'Read the reason: shelfsync does not know this message, so it sends the SKU again at next_try_at. '
            || 'Once its meaning is clear, add its keywords to SHELFSYNC_REJECTION__REASON_KEYWORDS.'
    END"""


ACCEPTANCE = View(
    "acceptance",
    "The outcomes of what was sent, by vendor and day; sent = accepted + rejected + unaccounted",
    {
        "vendor": "The vendor",
        "day": "Day on which the outcome was known, UTC",
        "sent": "SKUs sent, each as often as it was",
        "accepted": "SKUs with a success line in the platform's log",
        "rejected": "SKUs with an error line",
        "unaccounted": "SKUs for which the platform reported no result: unknown, never success",
        "acceptance_rate": "accepted / sent, from 0 to 1",
    },
    f"""
SELECT vendor, {day_of("ended_at")} AS day, CAST(sum(sent) AS bigint) AS sent, CAST(sum(accepted) AS bigint) AS accepted,
    CAST(sum(rejected) AS bigint) AS rejected, CAST(sum(unaccounted) AS bigint) AS unaccounted,
    CAST(sum(accepted) AS double precision) / CAST(sum(sent) AS double precision) AS acceptance_rate
FROM warehouse.catalog_job WHERE ended_at IS NOT NULL AND accepted + rejected + unaccounted > 0 GROUP BY 1, 2
""",  # noqa: S608  constants of the file itself
)

REJECTION_REASON = View(
    "rejection_reason",
    "Why the platform rejects SKUs, by reason, vendor and day",
    {
        "vendor": "The vendor",
        "day": "Day of the rejection, UTC",
        "reason": "The platform's message",
        "rejections": "How many rejections had it",
        "skus": "How many SKUs had it",
    },
    f"""
SELECT vendor, {day_of("known_at")} AS day, reason, count(*) AS rejections, count(DISTINCT sku) AS skus
FROM warehouse.sku_outcome WHERE state = 'rejected' GROUP BY 1, 2, 3
""",  # noqa: S608
)

REJECTION = View(
    "rejection",
    "SKUs that the platform rejects now, and what the operator should do",
    {
        "vendor": "The vendor",
        "sku": "The SKU",
        "duration": "permanent: not sent again until something changes; temporary: sent again automatically",
        "kind": "unknown_sku, invalid_value, drifted, for_now or unclear",
        "reason": "The platform's message; for a drift that came back after resending, shelfsync's own",
        "barcode": "Barcode when it was rejected; null: unknown",
        "price": "Price wanted",
        "quantity": "Quantity wanted",
        "active": "Availability wanted",
        "max_sales_quantity": "Sales limit wanted",
        "value_at_stake": "The price times the quantity; null: one of them is not known",
        "times": "How often it was rejected",
        "first_at": "Since when",
        "last_at": "When last",
        "job_id": "The job that rejected it last",
        "next_try_at": "From when on it is sent again without any change; null: never without a change",
        "released_by": "What released it: export, listing or an operator; null: nothing yet",
        "what_to_do": "What the operator should do",
    },
    f"""
SELECT vendor, sku, CASE WHEN kind IN ('for_now', 'unclear') THEN 'temporary' ELSE 'permanent' END AS duration, kind, reason,
    barcode, price, quantity, active, max_sales_quantity, {VALUE_AT_STAKE} AS value_at_stake, times, first_at, last_at, job_id, next_try_at, released_by,
    {_what_to_do("released_by IS NOT NULL")} AS what_to_do
FROM ledger.rejection
""",  # noqa: S608
)

REJECTION_COUNT = View(
    "rejection_count",
    "How many SKUs the platform rejects now, by vendor and reason: what a count over `rejection` returns, without reading its rows",
    {
        "vendor": "The vendor",
        "reason": "The platform's message",
        "kind": "unknown_sku, invalid_value, drifted, for_now or unclear",
        "skus": "How many SKUs",
        "value_at_stake": "Their prices times their quantities; null: none of them has both",
        "first_at": "Since when the first of them",
        "what_to_do": "What the operator should do",
    },
    f"""
SELECT vendor, reason, kind, skus, value_at_stake, first_at, {_what_to_do("released")} AS what_to_do FROM ledger.rejection_count
""",  # noqa: S608
)
