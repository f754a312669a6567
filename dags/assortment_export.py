"""# Assortment export

Brings back what the delivery platform really shows of every store, once a day, and compares it with what is wanted.

`plan` → for each shard of vendors: `export` → `wait` → `observe` → `reconcile` → `report`

* The platform is asked for its own picture of each store; its file is kept as it came and loaded into the warehouse, once.
* Every value that differs from the ERP, or from what the platform had accepted, gets a cause: never sent, refused, held, accepted
  but not applied, changed on the platform, too young to show, unknown. What is done about it is a setting for each
  (`SHELFSYNC_DRIFT__...`): healed by the next delta sync, reported, ignored. The table `warehouse.drift` has them one by one.
* A confirmation that was lost is settled when the picture shows exactly what was sent.
* A store whose export fails stops no other one; `report` fails at the end and names it with its reason.
* Before the first sync there is nothing to export: the run is skipped.

**Start it by hand** for some vendors. **Clear any task** to go on from there. The schedule is the option `export_schedule`.
"""

from __future__ import annotations

import datetime as dt

from airflow.sdk import dag

from shelfsync_airflow.export_tasks import export_form, plan, report, shard
from shelfsync_airflow.failures import task_defaults
from shelfsync_airflow.options import owner_links, schedule


@dag(
    schedule=schedule("export"),
    start_date=dt.datetime(2025, 1, 1, tzinfo=dt.UTC),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=dt.timedelta(hours=6),
    default_args=task_defaults(),
    params=export_form(),
    tags=["shelfsync", "catalog"],
    owner_links=owner_links(),
    doc_md=__doc__,
)
def assortment_export() -> None:
    shards = plan()
    shard.expand(shard=shards) >> report(shards)


assortment_export()
