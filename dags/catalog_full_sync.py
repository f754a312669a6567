"""# Catalog full sync

Makes the whole assortment of every store on the delivery platform equal to the ERP, once a day.

`check` → `extract` → for each shard of vendors: `normalise` → `diff` → `guard` → `batch` → `deliver` → `wait` → `confirm` → `acknowledge` → `report`

* The whole assortment is sent, changed or not: what went wrong unseen on the platform is put right.
* The ERP is read with a proof of completeness. A product that has left it is switched off on the platform; when that would
  concern many products of a vendor, it is held for a person instead.
* A vendor that fails stops no other one; `report` fails at the end and names it with its reason.

**Start it by hand** for some vendors, or as a dry run that shows what would be sent. **Clear any task** to go on from there: what
has been sent and acknowledged stands in the ledger, so nothing old is sent again. The schedule is the option `full_schedule`.
"""

from __future__ import annotations

import datetime as dt

from airflow.sdk import dag

from shelfsync_airflow.failures import task_defaults
from shelfsync_airflow.options import owner_links, schedule
from shelfsync_airflow.sync_graph import shard, sync_form
from shelfsync_airflow.tasks import check, extract, report


@dag(
    schedule=schedule("full"),
    start_date=dt.datetime(2025, 1, 1, tzinfo=dt.UTC),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=dt.timedelta(hours=12),
    default_args=task_defaults(),
    params=sync_form(),
    tags=["shelfsync", "catalog"],
    owner_links=owner_links(),
    doc_md=__doc__,
)
def catalog_full_sync() -> None:
    run = check("full")
    shards = extract(run)
    shard.expand(shard=shards) >> report(run)


catalog_full_sync()
