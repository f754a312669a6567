"""# Catalog urgent sync

Brings a few named SKUs of some vendors to the delivery platform at once, whatever else waits: a recall, a wrong price, a product that
has just run out. Started by hand, and asked for its vendors and SKUs.

`check` → `extract` → for each shard of vendors: `normalise` → `diff` → `guard` → `batch` → `deliver` → `wait` → `confirm` → `acknowledge` → `report`

* The ERP's newest word is read and sent; put it right there first.
* What a guard holds stays held, also here; it asks a person as always.
* A job of the vendor that is open already is waited for, up to five minutes; then the vendor is reported as busy.
* Everything else of the vendor waits for the next delta. The report says what became of each SKU.

The command line does the same: `shelfsync sync --vendor store-001 --sku 4711`. **Clear any task** to go on from there.
"""

from __future__ import annotations

import datetime as dt

from airflow.sdk import dag

from shelfsync_airflow.failures import task_defaults
from shelfsync_airflow.options import owner_links
from shelfsync_airflow.sync_graph import shard, urgent_form
from shelfsync_airflow.tasks import check, extract, report


@dag(
    schedule=None,
    start_date=dt.datetime(2025, 1, 1, tzinfo=dt.UTC),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=dt.timedelta(hours=1),
    default_args=task_defaults(),
    params=urgent_form(),
    tags=["shelfsync", "catalog"],
    owner_links=owner_links(),
    doc_md=__doc__,
)
def catalog_urgent_sync() -> None:
    run = check("delta")
    shards = extract(run)
    shard.expand(shard=shards) >> report(run)


catalog_urgent_sync()
