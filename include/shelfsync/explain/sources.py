"""Where a timeline comes from: one SELECT a kind of event, each bounded by an index on (vendor, sku).

Every SELECT gives `at`, `step`, `said`, `run_id`, `job_id` and the four values, so that they are one timeline when put together; the
warehouse function of the same name is made of those that read the warehouse alone.
"""

from __future__ import annotations

_SENT = """
SELECT j.sent_at AS at, 'deliver' AS step,
       CASE o.change WHEN 'removed' THEN 'sent as off sale: it had left the ERP'
                     WHEN 'same' THEN 'sent again by a full sync'
                     WHEN 'new' THEN 'sent for the first time' ELSE 'sent' END
       || ', in job ' || o.job_id || ' of run ' || j.run_id AS said,
       j.run_id, o.job_id, o.price, o.quantity, o.active, o.max_sales_quantity
FROM warehouse.sku_outcome AS o JOIN warehouse.catalog_job AS j USING (job_id)
WHERE o.vendor = :vendor AND o.sku = :sku AND j.sent_at <= :at
"""

_ANSWERED = """
SELECT o.settled_at AS at, 'confirm' AS step,
       CASE o.state WHEN 'accepted' THEN 'the platform said success'
                    WHEN 'refused' THEN 'the platform refused it: ' || coalesce(o.reason, 'without a word')
                    ELSE 'the platform did not say what became of it' || coalesce(': ' || o.reason, '') END
       || ' (job ' || o.job_id || coalesce(', on the platform ' || j.platform_job_id, '') || ')' AS said,
       j.run_id, o.job_id, o.price, o.quantity, o.active, o.max_sales_quantity
FROM warehouse.sku_outcome AS o JOIN warehouse.catalog_job AS j USING (job_id)
WHERE o.vendor = :vendor AND o.sku = :sku AND o.settled_at <= :at
"""

_QUARANTINED = """
SELECT r.started_at AS at, 'normalise' AS step,
       'row ' || q.row_number || ' of the extract was set aside: ' || q.message AS said,
       q.run_id, NULL::bigint AS job_id,
       NULL::numeric AS price, NULL::bigint AS quantity, NULL::boolean AS active, NULL::bigint AS max_sales_quantity
FROM warehouse.quarantine AS q JOIN warehouse.sync_run AS r USING (run_id)
WHERE q.vendor = :vendor AND q.sku = :sku AND r.started_at <= :at
"""

WAREHOUSE = (_SENT, _ANSWERED, _QUARANTINED)

TIMELINE = (
    "SELECT * FROM ("  # noqa: S608  constants only
    + " UNION ALL ".join(WAREHOUSE)
    + ") AS event ORDER BY at DESC, job_id DESC NULLS LAST LIMIT :most"
)
