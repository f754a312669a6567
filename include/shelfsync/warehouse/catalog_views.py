"""What people ask of the catalog, as views: how fresh, how much is accepted, why not, what is missing where, what it costs.

The SQL is the part of the language that PostgreSQL and DuckDB share, so that the same text answers in both (docs/warehouse.md).
"""

from __future__ import annotations

from shelfsync.warehouse.view import View


def _percentiles(value: str, prefix: str) -> str:
    return ",\n    ".join(
        f"percentile_cont({share}) WITHIN GROUP (ORDER BY {value}) AS {prefix}_{name}_s"
        for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
    )


def _seconds(later: str, earlier: str) -> str:
    return f"CAST(extract(epoch FROM ({later} - {earlier})) AS double precision)"


def _day(instant: str) -> str:
    return f"CAST(({instant} AT TIME ZONE 'UTC') AS date)"


def _off(row: str) -> str:
    """Whether the row's words are that nobody can buy it; never null."""
    return f"({row}.active IS NOT DISTINCT FROM false OR coalesce({row}.quantity <= 0, false))"


_DAY = "Day, UTC"
_VENDOR = "The vendor"

ASSORTMENT_DAILY = View(
    "assortment_daily",
    "What the platform showed of each SKU at the last picture of each day",
    {
        "vendor": _VENDOR,
        "day": _DAY,
        "sku": "The SKU",
        "barcode": "Barcode shown",
        "price": "Price shown",
        "active": "Whether it was on sale",
        "max_sales_quantity": "Sales limit shown; null: none",
        "observed_at": "When the picture was asked for",
    },
    f"""
SELECT seen.vendor, seen.day, shown.sku, shown.barcode, shown.price, shown.active, shown.max_sales_quantity, seen.observed_at
FROM (
    SELECT vendor, {_day("observed_at")} AS day, max(observed_at) AS observed_at
    FROM warehouse.observation WHERE in_history GROUP BY 1, 2
) AS seen
JOIN warehouse.assortment_history AS shown
    ON shown.vendor = seen.vendor AND shown.valid_from <= seen.observed_at
    AND (shown.valid_to IS NULL OR shown.valid_to > seen.observed_at)
""",
)

CHANGE_TIME = View(
    "change_time",
    "Every change that was accepted: when the ERP was first read with it, when it was acknowledged, and when a picture showed it",
    {
        "vendor": _VENDOR,
        "sku": "The SKU",
        "job_id": "The job that carried it",
        "change": "new, changed or removed",
        "stops_selling": "Whether it takes the SKU off sale: active false or nothing in stock now, neither of them acknowledged before; "
        "null: what was acknowledged before is not kept any more",
        "read_at": "First reading of the ERP since the vendor was last in step: an outage counts, what the schedule waited comes on top",
        "sent_at": "When the request was committed to leave",
        "acknowledged_at": "When the platform's log said so",
        "observed_at": "The first picture after that, where it shows what was sent; null: none yet, or it shows something else",
    },
    f"""
SELECT told.vendor, told.sku, told.job_id, told.change,
    (told.says_off AND told.change <> 'new' AND told.was_on) AS stops_selling, told.read_at, told.sent_at,
    told.settled_at AS acknowledged_at,
    CASE WHEN shown.sku IS NOT NULL THEN told.first_picture_at END AS observed_at
FROM (
    SELECT outcome.*, coalesce(job.wanted_at, job.read_at) AS read_at, job.sent_at,
        {_off("outcome")} AS says_off,
        CASE WHEN {_off("outcome")} AND outcome.change <> 'new' THEN (
            SELECT max(2 * held.version + CASE WHEN {_off("held")} THEN 0 ELSE 1 END) % 2 = 1
            FROM warehouse.baseline_history AS held
            WHERE held.vendor = outcome.vendor AND held.sku = outcome.sku AND held.valid_from <= job.sent_at
        ) END AS was_on,
        (
            SELECT min(seen.observed_at) FROM warehouse.observation AS seen
            WHERE seen.vendor = outcome.vendor AND seen.in_history AND seen.observed_at >= outcome.settled_at
        ) AS first_picture_at
    FROM warehouse.sku_outcome AS outcome JOIN warehouse.catalog_job AS job ON job.job_id = outcome.job_id
    WHERE outcome.state = 'accepted' AND outcome.change <> 'same'
) AS told
LEFT JOIN warehouse.assortment_history AS shown
    ON shown.vendor = told.vendor AND shown.sku = told.sku AND shown.valid_from <= told.first_picture_at
    AND (shown.valid_to IS NULL OR shown.valid_to > told.first_picture_at)
    AND (told.price IS NULL OR shown.price = told.price)
    AND (told.max_sales_quantity IS NULL OR shown.max_sales_quantity = told.max_sales_quantity)
    AND (told.active IS DISTINCT FROM false OR shown.active = false)
""",
)

FRESHNESS = View(
    "freshness",
    "How old a change is when the platform has acknowledged it, and when a picture shows it, by vendor and day",
    {
        "vendor": _VENDOR,
        "day": "Day of the acknowledgement, UTC",
        "changes": "Changes acknowledged",
        "observed": "Of them, changes that the next picture showed",
        "acknowledged_p50_s": "Seconds from first reading it in the ERP to the acknowledgement, half of the changes",
        "acknowledged_p95_s": "The same, 95 of 100",
        "acknowledged_p99_s": "The same, 99 of 100",
        "observed_p50_s": "Seconds from first reading it in the ERP to the picture that shows it, half of those observed; bounded by how often one is taken",
        "observed_p95_s": "The same, 95 of 100",
        "observed_p99_s": "The same, 99 of 100",
    },
    f"""
SELECT vendor, {_day("acknowledged_at")} AS day, count(*) AS changes, count(observed_at) AS observed,
    {_percentiles(_seconds("acknowledged_at", "read_at"), "acknowledged")},
    {_percentiles(_seconds("observed_at", "read_at"), "observed")}
FROM warehouse.change_time GROUP BY 1, 2
""",
)

STOP_SELL = View(
    "stop_sell",
    "How long it takes to take a SKU off sale, by vendor and day: every minute sells what is not there",
    {
        "vendor": _VENDOR,
        "day": "Day of the acknowledgement, UTC",
        "stops": "Changes that took a SKU off sale",
        "stop_p50_s": "Seconds from first reading it in the ERP to the acknowledgement, half of them",
        "stop_p95_s": "The same, 95 of 100",
        "stop_p99_s": "The same, 99 of 100",
        "stop_max_s": "The longest",
    },
    f"""
SELECT vendor, {_day("acknowledged_at")} AS day, count(*) AS stops,
    {_percentiles(_seconds("acknowledged_at", "read_at"), "stop")},
    max({_seconds("acknowledged_at", "read_at")}) AS stop_max_s
FROM warehouse.change_time WHERE stops_selling GROUP BY 1, 2
""",
)

ACCEPTANCE = View(
    "acceptance",
    "What became of what was sent, by vendor and day; sent = accepted + refused + unaccounted",
    {
        "vendor": _VENDOR,
        "day": "Day on which it was known, UTC",
        "sent": "SKUs sent, each as often as it was",
        "accepted": "SKUs with a success line in the platform's log",
        "refused": "SKUs with an error line",
        "unaccounted": "SKUs of which the platform said nothing: unknown, never success",
        "acceptance_rate": "accepted / sent, from 0 to 1",
    },
    f"""
SELECT vendor, {_day("settled_at")} AS day, CAST(sum(sent) AS bigint) AS sent, CAST(sum(accepted) AS bigint) AS accepted,
    CAST(sum(refused) AS bigint) AS refused, CAST(sum(unaccounted) AS bigint) AS unaccounted,
    CAST(sum(accepted) AS double precision) / CAST(sum(sent) AS double precision) AS acceptance_rate
FROM warehouse.catalog_job WHERE settled_at IS NOT NULL AND accepted + refused + unaccounted > 0 GROUP BY 1, 2
""",
)

REFUSALS = View(
    "refusals",
    "Why the platform refuses SKUs, by reason, vendor and day",
    {
        "vendor": _VENDOR,
        "day": "Day of the refusal, UTC",
        "reason": "The platform's words",
        "refusals": "How often it said so",
        "skus": "How many SKUs it said so of",
    },
    f"""
SELECT vendor, {_day("settled_at")} AS day, reason, count(*) AS refusals, count(DISTINCT sku) AS skus
FROM warehouse.sku_outcome WHERE state = 'refused' GROUP BY 1, 2, 3
""",
)

NOT_APPLIED = View(
    "not_applied",
    "What the platform accepted and did not do, by picture; changes younger than the propagation time are not judged",
    {
        "vendor": _VENDOR,
        "observation_id": "The picture",
        "observed_at": "When it was asked for",
        "shown": "SKUs shown",
        "not_applied": "SKUs with a value that was accepted and is not shown, older than SHELFSYNC_DRIFT__PROPAGATION_S",
        "not_applied_rate": "not_applied / shown, from 0 to 1",
        "oldest_s": "Seconds since the oldest of them was acknowledged",
    },
    f"""
SELECT seen.vendor, seen.observation_id, seen.observed_at, seen.rows AS shown, count(DISTINCT late.sku) AS not_applied,
    CAST(count(DISTINCT late.sku) AS double precision) / nullif(seen.rows, 0) AS not_applied_rate,
    max({_seconds("seen.observed_at", "late.acknowledged_at")}) AS oldest_s
FROM warehouse.observation AS seen
LEFT JOIN (
    SELECT drift.observation_id, drift.sku, (
        SELECT max(held.valid_from) FROM warehouse.baseline_history AS held
        WHERE held.vendor = drift.vendor AND held.sku = drift.sku AND held.job_id IS NOT NULL
            AND held.valid_from <= drift.observed_at
    ) AS acknowledged_at
    FROM warehouse.drift AS drift WHERE drift.cause = 'acknowledged_not_applied'
) AS late ON late.observation_id = seen.observation_id
GROUP BY 1, 2, 3, 4
""",
)

ASSORTMENT_GAP = View(
    "assortment_gap",
    "SKUs that only one side has, as of each vendor's newest picture; where nobody can know what the ERP has, there is no gap",
    {
        "vendor": _VENDOR,
        "sku": "The SKU",
        "barcode": "Its barcode",
        "gap": "not_on_platform: the ERP has it, the platform does not show it; not_in_erp: the reverse",
        "active_shown": "Whether the platform sells it",
        "since": "The picture since which it is so, at the latest",
    },
    """
SELECT vendor, sku, barcode, CASE WHEN in_erp THEN 'not_on_platform' ELSE 'not_in_erp' END AS gap, active_shown,
    seen_at AS since
FROM warehouse.product WHERE in_erp <> on_platform
""",
)

REQUEST_USE = View(
    "request_use",
    "How the shared request allowance is used, by hour and lane",
    {
        "hour_at": "Start of the hour, UTC",
        "lane": "The lane: order, stop_sell, price, catalog, promotion, export or history",
        "operation": "Which call of the interface",
        "requests": "Slots used",
        "forfeited": "Slots that were not used because their holder woke up too late",
        "waited_s": "Mean wait for a slot, seconds",
        "waited_s_max": "The longest wait, seconds",
    },
    """
SELECT hour_at, lane, operation, sum(permits) - sum(forfeited) AS requests, sum(forfeited) AS forfeited,
    sum(waited_s) / nullif(sum(permits), 0) AS waited_s, max(waited_s_max) AS waited_s_max
FROM budget.usage WHERE lane <> '' GROUP BY 1, 2, 3
""",
)

REJECTION = View(
    "rejection",
    "SKUs the platform refuses now, for good or for now, and what the people who must act should do",
    {
        "vendor": _VENDOR,
        "sku": "The SKU",
        "refused": "for good: not repeated until something changes; for now: tried again by itself",
        "kind": "unknown_sku, invalid_value, drifted, for_now or unclear",
        "reason": "The platform's words, or ours where healing a drift did not last",
        "price": "Price wanted",
        "quantity": "Quantity wanted",
        "active": "Availability wanted",
        "max_sales_quantity": "Sales limit wanted",
        "times": "How often it was refused",
        "first_at": "Since when",
        "last_at": "When last",
        "job_id": "The job that refused it last",
        "next_try_at": "From when on it is sent again though nothing has changed; null: not by itself",
        "released_by": "What let it go: export, listing or a person; null: nothing yet",
        "what_to_do": "What a person should do about it",
    },
    """
SELECT vendor, sku, CASE WHEN kind IN ('for_now', 'unclear') THEN 'for now' ELSE 'for good' END AS refused, kind, reason,
    price, quantity, active, max_sales_quantity, times, first_at, last_at, job_id, next_try_at, released_by,
    CASE WHEN released_by IS NOT NULL THEN 'Nothing: it was let go, and the next run sends it again.'
        WHEN kind = 'unknown_sku' THEN 'Have the product created on the platform, or take it out of the ERP''s rows for this vendor. '
            || 'It is sent again when an export or a listing shows it, when its row changes, or with the next full sync.'
        WHEN kind = 'invalid_value' THEN 'Correct the value in the ERP. '
            || 'It is sent again when the value changes, or with the next full sync.'
        WHEN kind = 'drifted' THEN 'Find out who changes it on the platform: the portal, another integration, its support. '
            || 'It is sent again when its row changes, with the next full sync, or when a person lets it go.'
        WHEN kind = 'for_now' THEN 'Nothing: it is sent again by itself at next_try_at. '
            || 'If it stays for days, ask the platform''s support.'
        ELSE 'Read the reason: nobody here knows these words, so it is sent again at next_try_at. '
            || 'Once it is clear what they mean, name them in SHELFSYNC_REJECTION__WORDS.'
    END AS what_to_do
FROM ledger.rejection
""",
)

CONFIRMATION = View(
    "confirmation",
    "How the end of jobs is heard of, by vendor and day: a webhook that does not come costs time and requests",
    {
        "vendor": _VENDOR,
        "day": "Day on which the jobs were settled, UTC",
        "jobs": "Jobs settled",
        "by_webhook": "Jobs of which an event told first",
        "by_question": "Jobs of which no event had come, so that the platform was asked: its webhook is lost, or late",
        "untold": "Jobs of which nobody told: given up, settled by a listing, or ended by the answer itself",
        "webhook_rate": "by_webhook / (by_webhook + by_question), from 0 to 1",
        "open_p95_s": "Seconds from the platform's 202 to the settlement, 95 of 100 jobs",
    },
    f"""
SELECT vendor, {_day("settled_at")} AS day, count(*) AS jobs,
    count(*) FILTER (WHERE heard_by = 'webhook') AS by_webhook,
    count(*) FILTER (WHERE heard_by = 'question') AS by_question,
    count(*) FILTER (WHERE heard_by IS NULL) AS untold,
    CAST(count(*) FILTER (WHERE heard_by = 'webhook') AS double precision) / nullif(count(heard_by), 0) AS webhook_rate,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY {_seconds("settled_at", "answered_at")}) AS open_p95_s
FROM warehouse.catalog_job WHERE settled_at IS NOT NULL GROUP BY 1, 2
""",
)

CATALOG_VIEWS = (
    ASSORTMENT_DAILY,
    CHANGE_TIME,
    FRESHNESS,
    STOP_SELL,
    ACCEPTANCE,
    REFUSALS,
    NOT_APPLIED,
    ASSORTMENT_GAP,
    REQUEST_USE,
    CONFIRMATION,
    REJECTION,
)
