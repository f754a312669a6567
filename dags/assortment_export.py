"""# Assortment export

Reads what the delivery platform really shows of every store, once a day, and compares it with the ERP.

`plan` → for each shard of vendors: `export` → `wait` → `observe` → `reconcile`; then `look_again` → `report`

* shelfsync requests an export of each store from the platform. It stores the file unchanged and loads it into the warehouse once.
* Every value that differs from the ERP, or from what the platform accepted, gets a cause: never sent, rejected, held, accepted
  but not applied, changed on the platform, too young to show, unknown. A setting for each cause (`SHELFSYNC_DRIFT__...`) decides the
  action: the next delta sync resends the value, or the run reports it or ignores it. The table `warehouse.drift` lists every difference.
* If a confirmation was lost and the export shows exactly what was sent, the export confirms it.
* A change needs up to half an hour to show. If values were accepted too late for this export, `look_again` plans a second run of
  their stores for then.
* If the export of a store fails, the other stores go on. `report` fails at the end and names the store and the reason.
* Before the first sync there is nothing to export: the run is skipped.

**Start it by hand** for some vendors. **Clear any task** to go on from there. The schedule is the option `export_schedule`.

A run of every store that succeeds emits the asset `shelfsync_export_observed`: a DAG of yours can wait for it.
"""

from __future__ import annotations

from shelfsync_airflow.assets import EXPORT_OBSERVED, emitting
from shelfsync_airflow.chains import dag_of_each_chain
from shelfsync_airflow.export_tasks import export_form, look_again, plan, report, shard


@dag_of_each_chain(__doc__, "catalog", hours=6, schedule="export", params=export_form())
def assortment_export() -> None:
    shards = plan()
    shard.expand(shard=shards) >> look_again(shards) >> emitting(EXPORT_OBSERVED, report)(shards)
