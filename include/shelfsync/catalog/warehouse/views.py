"""The catalog's views: freshness, assortment gaps, what was not applied, request use, confirmation; `outcome_views` has the others.

The SQL is the part of the language that PostgreSQL and DuckDB share, so that the same text answers in both (docs/reference/warehouse.md).
"""

from __future__ import annotations

from shelfsync.catalog.ledger.vendor_counts import NUMBERS
from shelfsync.catalog.warehouse.outcome_views import ACCEPTANCE, REJECTION, REJECTION_COUNT, REJECTION_REASON, day_of
from shelfsync.store.metadata import View


def _percentiles(value: str, prefix: str) -> str:
    return ",\n    ".join(
        f"percentile_cont({share}) WITHIN GROUP (ORDER BY {value}) AS {prefix}_{name}_s"
        for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
    )


def _seconds(later: str, earlier: str) -> str:
    return f"CAST(extract(epoch FROM ({later} - {earlier})) AS double precision)"


def _off(row: str) -> str:
    """Whether the row's values take the SKU off sale; never null."""
    return f"({row}.active IS NOT DISTINCT FROM false OR coalesce({row}.quantity <= 0, false))"


_DAY = "Day, UTC"
_VENDOR = "The vendor"

ASSORTMENT_DAILY = View(
    "assortment_daily",
    "What the platform showed of each SKU at the last observation of each day",
    {
        "vendor": _VENDOR,
        "day": _DAY,
        "sku": "The SKU",
        "barcode": "Barcode shown",
        "price": "Price shown",
        "active": "Whether it was on sale",
        "max_sales_quantity": "Sales limit shown; null: none",
        "observed_at": "When the observation was requested",
    },
    f"""
SELECT seen.vendor, seen.day, shown.sku, shown.barcode, shown.price, shown.active, shown.max_sales_quantity, seen.observed_at
FROM (
    SELECT vendor, {day_of("observed_at")} AS day, max(observed_at) AS observed_at
    FROM warehouse.observation WHERE in_history GROUP BY 1, 2
) AS seen
JOIN warehouse.assortment_history AS shown
    ON shown.vendor = seen.vendor AND shown.valid_from <= seen.observed_at
    AND (shown.valid_to IS NULL OR shown.valid_to > seen.observed_at)
""",
)

CHANGE_TIME = View(
    "change_time",
    "Every change that was accepted: when the ERP was first read with it, when it was acknowledged, and when an observation showed it",
    {
        "vendor": _VENDOR,
        "sku": "The SKU",
        "job_id": "The job that carried it",
        "change": "new, changed or removed",
        "priority": "Priority of that job: stop_sell, price or catalog, what its most urgent SKUs are",
        "stops_selling": "Whether it takes the SKU off sale: active false or nothing in stock now, neither of them acknowledged before; "
        "null: the state acknowledged before is no longer kept",
        "read_at": "The ERP's first change since the vendor was last in step, if it reports that (a column changed_at with a zone among the changes);"
        " else the first reading since, and the schedule's own wait comes in addition. It includes an outage",
        "sent_at": "When shelfsync committed the request, just before sending it",
        "acknowledged_at": "When the platform's log confirmed it",
        "observed_at": "The first observation after that, if it shows what was sent; null: none yet, or it shows other values",
    },
    f"""
SELECT accepted.vendor, accepted.sku, accepted.job_id, accepted.change, accepted.priority,
    (accepted.off_sale AND accepted.change <> 'new' AND accepted.was_on) AS stops_selling, accepted.read_at, accepted.sent_at,
    accepted.known_at AS acknowledged_at,
    CASE WHEN shown.sku IS NOT NULL THEN accepted.first_observed_at END AS observed_at
FROM (
    SELECT outcome.*, coalesce(job.wanted_at, job.read_at) AS read_at, job.sent_at, job.priority,
        {_off("outcome")} AS off_sale,
        CASE WHEN {_off("outcome")} AND outcome.change <> 'new' THEN (
            SELECT max(2 * held.version + CASE WHEN {_off("held")} THEN 0 ELSE 1 END) % 2 = 1
            FROM warehouse.baseline_history AS held
            WHERE held.vendor = outcome.vendor AND held.sku = outcome.sku AND held.valid_from <= job.sent_at
        ) END AS was_on,
        (
            SELECT min(seen.observed_at) FROM warehouse.observation AS seen
            WHERE seen.vendor = outcome.vendor AND seen.in_history AND seen.observed_at >= outcome.known_at
        ) AS first_observed_at
    FROM warehouse.sku_outcome AS outcome JOIN warehouse.catalog_job AS job ON job.job_id = outcome.job_id
    WHERE outcome.state = 'accepted' AND outcome.change <> 'same'
) AS accepted
LEFT JOIN warehouse.assortment_history AS shown
    ON shown.vendor = accepted.vendor AND shown.sku = accepted.sku AND shown.valid_from <= accepted.first_observed_at
    AND (shown.valid_to IS NULL OR shown.valid_to > accepted.first_observed_at)
    AND (accepted.price IS NULL OR shown.price = accepted.price)
    AND (accepted.max_sales_quantity IS NULL OR shown.max_sales_quantity = accepted.max_sales_quantity)
    AND (accepted.active IS DISTINCT FROM false OR shown.active = false)
""",
)

FRESHNESS = View(
    "freshness",
    "How old a change is when the platform has acknowledged it, and when an observation shows it, by vendor and day",
    {
        "vendor": _VENDOR,
        "day": "Day of the acknowledgement, UTC",
        "changes": "Changes acknowledged",
        "observed": "Of them, changes that the next observation showed",
        "acknowledged_p50_s": "Seconds from `read_at` of change_time (the ERP's change if it reports that, else its first reading) to the acknowledgement, half of the changes",
        "acknowledged_p95_s": "The same, 95 of 100",
        "acknowledged_p99_s": "The same, 99 of 100",
        "observed_p50_s": "Seconds from `read_at` of change_time to the observation that shows it, half of those observed; the schedule of exports is its lower bound",
        "observed_p95_s": "The same, 95 of 100",
        "observed_p99_s": "The same, 99 of 100",
    },
    f"""
SELECT vendor, {day_of("acknowledged_at")} AS day, count(*) AS changes, count(observed_at) AS observed,
    {_percentiles(_seconds("acknowledged_at", "read_at"), "acknowledged")},
    {_percentiles(_seconds("observed_at", "read_at"), "observed")}
FROM warehouse.change_time GROUP BY 1, 2
""",
)

FRESHNESS_HOURLY = View(
    "freshness_hourly",
    "How old a change is when the platform has acknowledged it, and when an observation shows it, by vendor, hour and priority",
    {
        "vendor": _VENDOR,
        "hour_at": "Beginning of the hour of the acknowledgement",
        "priority": "Priority of the job that carried it: stop_sell, price or catalog",
        "changes": "Changes acknowledged",
        "observed": "Of them, changes that the next observation showed",
        "acknowledged_p50_s": "Seconds from `read_at` of change_time to the acknowledgement, half of the changes",
        "acknowledged_p95_s": "The same, 95 of 100",
        "acknowledged_p99_s": "The same, 99 of 100",
        "acknowledged_max_s": "The longest",
        "observed_p50_s": "Seconds from `read_at` of change_time to the observation that shows it, half of those observed",
        "observed_p95_s": "The same, 95 of 100",
        "observed_p99_s": "The same, 99 of 100",
        "observed_max_s": "The longest",
    },
    f"""
SELECT vendor, date_trunc('hour', acknowledged_at) AS hour_at, priority, count(*) AS changes, count(observed_at) AS observed,
    {_percentiles(_seconds("acknowledged_at", "read_at"), "acknowledged")},
    max({_seconds("acknowledged_at", "read_at")}) AS acknowledged_max_s,
    {_percentiles(_seconds("observed_at", "read_at"), "observed")},
    max({_seconds("observed_at", "read_at")}) AS observed_max_s
FROM warehouse.change_time GROUP BY 1, 2, 3
""",
)

STOP_SELL = View(
    "stop_sell",
    "How long it takes to take a SKU off sale, by vendor and day: until then customers can order it",
    {
        "vendor": _VENDOR,
        "day": "Day of the acknowledgement, UTC",
        "stops": "Changes that took a SKU off sale",
        "stop_p50_s": "Seconds from `read_at` of change_time to the acknowledgement, half of them",
        "stop_p95_s": "The same, 95 of 100",
        "stop_p99_s": "The same, 99 of 100",
        "stop_max_s": "The longest",
    },
    f"""
SELECT vendor, {day_of("acknowledged_at")} AS day, count(*) AS stops,
    {_percentiles(_seconds("acknowledged_at", "read_at"), "stop")},
    max({_seconds("acknowledged_at", "read_at")}) AS stop_max_s
FROM warehouse.change_time WHERE stops_selling GROUP BY 1, 2
""",
)

NOT_APPLIED = View(
    "not_applied",
    "What the platform accepted and does not show, by observation; changes younger than the propagation time do not count",
    {
        "vendor": _VENDOR,
        "observation_id": "The observation (export or listing)",
        "observed_at": "When it was requested",
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
    "SKUs that only one side has, as of each vendor's newest observation; a SKU that the ERP may or may not have is no gap",
    {
        "vendor": _VENDOR,
        "sku": "The SKU",
        "barcode": "Its barcode",
        "gap": "not_on_platform: the ERP has it, the platform does not show it; not_in_erp: the reverse",
        "active_shown": "Whether the platform sells it",
        "since": "The observation since which the gap exists, at the latest",
    },
    """
SELECT vendor, sku, barcode, CASE WHEN in_erp THEN 'not_on_platform' ELSE 'not_in_erp' END AS gap, active_shown,
    seen_at AS since
FROM warehouse.product WHERE in_erp <> on_platform
""",
)

REQUEST_USE = View(
    "request_use",
    "How the shared rate limit is used, by hour, chain and priority",
    {
        "hour_at": "Start of the hour, UTC",
        "chain": "The chain that sent; where chains share the limit, all are in the shared database",
        "priority": "Priority: order, stop_sell, price, catalog, promotion, export or history",
        "operation": "Which call of the interface",
        "requests": "Requests sent",
        "forfeited": "Permits that expired unused, because their process woke up too late",
        "waited_s": "Mean wait for a permit, seconds",
        "waited_s_max": "The longest wait, seconds",
    },
    """
SELECT hour_at, chain, priority AS priority, operation, sum(permits) - sum(forfeited) AS requests, sum(forfeited) AS forfeited,
    sum(waited_s) / nullif(sum(permits), 0) AS waited_s, max(waited_s_max) AS waited_s_max
FROM rate_limit.usage WHERE priority <> '' GROUP BY 1, 2, 3, 4
""",
)

CONFIRMATION = View(
    "confirmation",
    "How the platform reported the end of jobs, by vendor and day: a missing webhook costs time and requests",
    {
        "vendor": _VENDOR,
        "day": "Day on which the jobs ended, UTC",
        "jobs": "Jobs ended",
        "by_webhook": "Jobs whose end an event reported first",
        "by_poll": "Jobs whose end a poll found first: the platform's webhook is lost, or late",
        "by_other": "Jobs whose end neither reported: given up, confirmed by a listing, or ended by the response itself",
        "webhook_rate": "by_webhook / (by_webhook + by_poll), from 0 to 1",
        "open_p95_s": "Seconds from the platform's 202 to the end, 95 of 100 jobs",
    },
    f"""
SELECT vendor, {day_of("ended_at")} AS day, count(*) AS jobs,
    count(*) FILTER (WHERE end_reported_by = 'webhook') AS by_webhook,
    count(*) FILTER (WHERE end_reported_by = 'poll') AS by_poll,
    count(*) FILTER (WHERE end_reported_by IS NULL) AS by_other,
    CAST(count(*) FILTER (WHERE end_reported_by = 'webhook') AS double precision) / nullif(count(end_reported_by), 0) AS webhook_rate,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY {_seconds("ended_at", "answered_at")}) AS open_p95_s
FROM warehouse.catalog_job WHERE ended_at IS NOT NULL GROUP BY 1, 2
""",
)

CATALOG_VIEWS = (
    ASSORTMENT_DAILY,
    CHANGE_TIME,
    FRESHNESS,
    FRESHNESS_HOURLY,
    STOP_SELL,
    ACCEPTANCE,
    REJECTION_REASON,
    NOT_APPLIED,
    ASSORTMENT_GAP,
    REQUEST_USE,
    CONFIRMATION,
    REJECTION,
    REJECTION_COUNT,
)


VENDOR_COUNT = View(
    "vendor_count",
    "How many rows of a vendor are in each state, as `shelfsync status` shows it. Each row has one state: the columns after not_in_erp add up to the two before",
    {
        "vendor": "The vendor",
        **NUMBERS,
        "counted_at": "When it was counted: at the end of a run, by a recovery, or when an operator read the status",
    },
    f"""
SELECT vendor, {", ".join(NUMBERS)}, counted_at FROM ledger.vendor_count
""",
)
