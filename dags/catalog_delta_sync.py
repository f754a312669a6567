"""# Catalog delta sync

Brings what changed in the ERP since the last acknowledgement to the delivery platform, every quarter of an hour.

`check` → `extract` → for each shard of vendors: `normalise` → `diff` → `guard` → `batch` → `deliver` → `wait` → `confirm` → `acknowledge` → `report`

* Only fields that differ from what the platform acknowledged are sent; a run without changes sends nothing.
* What an earlier run could not get through is still different, so this run sends it again, with the newest values.
* A product that has left the ERP is switched off; when that would concern many products of a vendor, it is held for a person.
* A vendor that fails stops no other one; `report` fails at the end and names it with its reason.

**Start it by hand** for some vendors, or as a dry run that shows what would be sent. **Clear any task** to go on from there: what
has been sent and acknowledged stands in the ledger, so nothing old is sent again. The schedule is the option `delta_schedule`.
"""

from __future__ import annotations

import datetime as dt

from airflow.sdk import dag

from shelfsync_airflow.failures import task_defaults
from shelfsync_airflow.options import owner_links, schedule
from shelfsync_airflow.sync_graph import shard, sync_form
from shelfsync_airflow.tasks import check, extract, report


@dag(
    schedule=schedule("delta"),
    start_date=dt.datetime(2025, 1, 1, tzinfo=dt.UTC),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=dt.timedelta(hours=3),
    default_args=task_defaults(),
    params=sync_form(),
    tags=["shelfsync", "catalog"],
    owner_links=owner_links(),
    doc_md=__doc__,
)
def catalog_delta_sync() -> None:
    run = check("delta")
    shards = extract(run)
    shard.expand(shard=shards) >> report(run)


catalog_delta_sync()
