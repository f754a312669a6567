"""The life of every SKU, as one view: each kind of event is one SELECT, bounded by an index on vendor and SKU when these are asked for."""

from __future__ import annotations

from shelfsync.warehouse.view import View

_NO_VALUES = (
    "CAST(NULL AS numeric(20, 3)) AS price, CAST(NULL AS bigint) AS quantity,"
    " CAST(NULL AS boolean) AS active, CAST(NULL AS bigint) AS max_sales_quantity"
)

_WANTED = """
SELECT o.vendor, o.sku, j.read_at AS at, 'diff' AS step,
    CASE o.change WHEN 'new' THEN 'wanted, and never acknowledged before'
        WHEN 'removed' THEN 'no more wanted, for it had left the ERP'
        ELSE 'wanted otherwise than acknowledged' END
        || ', as the ERP was read by run ' || j.run_id AS said,
    j.run_id, CAST(NULL AS bigint) AS job_id, o.price, o.quantity, o.active, o.max_sales_quantity
FROM warehouse.sku_outcome AS o JOIN warehouse.catalog_job AS j ON j.job_id = o.job_id
WHERE o.change <> 'same' AND j.read_at IS NOT NULL
"""

_SENT = """
SELECT o.vendor, o.sku, j.sent_at AS at, 'deliver' AS step,
    CASE o.change WHEN 'removed' THEN 'sent as off sale, for it had left the ERP'
        WHEN 'same' THEN 'sent again by a full sync'
        WHEN 'new' THEN 'sent for the first time' ELSE 'sent' END
        || ', in job ' || o.job_id || ' of run ' || j.run_id AS said,
    j.run_id, o.job_id, o.price, o.quantity, o.active, o.max_sales_quantity
FROM warehouse.sku_outcome AS o JOIN warehouse.catalog_job AS j ON j.job_id = o.job_id
"""

_ANSWERED = """
SELECT o.vendor, o.sku, o.settled_at AS at, 'confirm' AS step,
    CASE o.state WHEN 'accepted' THEN 'the platform said success'
        WHEN 'refused' THEN 'the platform refused it, ' || coalesce(o.reason, 'without a word')
        ELSE 'the platform did not say what became of it' || coalesce(', ' || o.reason, '') END
        || ' (job ' || o.job_id || coalesce(', on the platform ' || j.platform_job_id, '') || ')' AS said,
    j.run_id, o.job_id, o.price, o.quantity, o.active, o.max_sales_quantity
FROM warehouse.sku_outcome AS o JOIN warehouse.catalog_job AS j ON j.job_id = o.job_id
"""

_SET_ASIDE = f"""
SELECT q.vendor, q.sku, r.started_at AS at, 'normalise' AS step,
    'row ' || q.row_number || ' of the extract was set aside, ' || q.message AS said,
    q.run_id, CAST(NULL AS bigint) AS job_id, {_NO_VALUES}
FROM warehouse.quarantine AS q JOIN warehouse.sync_run AS r ON r.run_id = q.run_id
"""  # noqa: S608  constants only

_SETTLED = """
SELECT h.vendor, h.sku, h.valid_from AS at, 'reconcile' AS step,
    'what is taken for acknowledged was set by picture ' || h.observation_id || ' of the platform' AS said,
    CAST(NULL AS bigint) AS run_id, CAST(NULL AS bigint) AS job_id, h.price, h.quantity, h.active, h.max_sales_quantity
FROM warehouse.baseline_history AS h WHERE h.observation_id IS NOT NULL
"""

_SHOWN = """
SELECT a.vendor, a.sku, a.valid_from AS at, 'observe' AS step, 'the platform was seen to show this' AS said,
    CAST(NULL AS bigint) AS run_id, CAST(NULL AS bigint) AS job_id,
    a.price, CAST(NULL AS bigint) AS quantity, a.active, a.max_sales_quantity
FROM warehouse.assortment_history AS a
"""

_GONE = f"""
SELECT a.vendor, a.sku, a.valid_to AS at, 'observe' AS step, 'the platform showed it no more' AS said,
    CAST(NULL AS bigint) AS run_id, CAST(NULL AS bigint) AS job_id, {_NO_VALUES}
FROM warehouse.assortment_history AS a
WHERE a.valid_to IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM warehouse.assortment_history AS later
    WHERE later.vendor = a.vendor AND later.sku = a.sku AND later.valid_from = a.valid_to)
"""  # noqa: S608

_DRIFTED = f"""
SELECT d.vendor, d.sku, d.observed_at AS at, 'reconcile' AS step,
    d.field || ' differs (' || d.cause || ', ' || d.action || '), ' || d.message AS said,
    CAST(NULL AS bigint) AS run_id, CAST(NULL AS bigint) AS job_id, {_NO_VALUES}
FROM warehouse.drift AS d
"""  # noqa: S608

_OFFER = "p.name || ' (campaign ' || p.campaign || '), ' || lower(replace(s.subtype, '_', ' ')) || ' ' || s.value"
_PROMOTED = f"""
SELECT v.vendor, s.sku, p.{{when}} AS at, 'promotion' AS step,
    'promotion ' || {_OFFER} || ', {{word}}' AS said,
    CAST(NULL AS bigint) AS run_id, CAST(NULL AS bigint) AS job_id, {_NO_VALUES}
FROM warehouse.promotion AS p
JOIN warehouse.promotion_sku AS s ON s.promotion_id = p.promotion_id
JOIN warehouse.promotion_vendor AS named ON named.promotion_id = p.promotion_id
JOIN warehouse.vendor AS v ON named.vendor IN (v.vendor, '*')
WHERE p.told_at IS NOT NULL AND p.{{when}} IS NOT NULL
"""  # noqa: S608
_TOLD = _PROMOTED.format(when="told_at", word="is known to the platform")
_BEGINS = _PROMOTED.format(when="start_time", word="begins")
_ENDED = _PROMOTED.format(when="ended_at", word="was ended by us")
_OVER = _PROMOTED.format(when="end_time", word="is over by its time")

_EVENTS = (_WANTED, _SENT, _ANSWERED, _SET_ASIDE, _SETTLED, _SHOWN, _GONE, _DRIFTED, _TOLD, _BEGINS, _ENDED, _OVER)

TIMELINE = View(
    "timeline",
    "What happened to each SKU at each vendor, but for holds, restorations and answers about promotions; ask for one of both, and it answers at once",
    {
        "vendor": "The vendor",
        "sku": "The SKU",
        "at": "When; a promotion that is yet to begin or end lies in the future",
        "step": "The step that wrote it",
        "said": "What happened, for a person",
        "run_id": "The run, where there is one",
        "job_id": "The job, where there is one",
        "price": "Price that was sent, answered about or seen",
        "quantity": "Quantity",
        "active": "Availability",
        "max_sales_quantity": "Sales limit",
    },
    "\nUNION ALL".join(_EVENTS),
)
