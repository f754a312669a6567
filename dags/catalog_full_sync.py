"""# Catalog full sync

Makes the whole assortment of every store on the delivery platform equal to the ERP, once a day.

`check` → `recover` and `extract` → for each shard of vendors: `prepare` (normalise, diff, guard, batch) → `deliver` → `wait` → `confirm`
(and acknowledge) → `report`

* shelfsync sends the whole assortment, changed or not. This corrects errors on the platform that no delta detects.
* shelfsync reads the ERP with a proof of completeness. A product that has left the ERP is deactivated on the platform. If this
  concerns many products of a vendor, a guard holds them for a person.
* If a vendor fails, the others go on. `report` fails at the end and names the vendor and the reason.

**Start it by hand** for some vendors, or as a dry run that shows what would be sent. **Clear any task** to go on from there. The
ledger records what was sent and acknowledged, so shelfsync sends nothing old again. The schedule is the option `full_schedule`.

A run of every vendor that succeeds emits the asset `shelfsync_catalog_synced`: a DAG of yours can wait for it.
"""

from __future__ import annotations

from shelfsync_airflow.assets import CATALOG_SYNCED, emitting
from shelfsync_airflow.chains import dag_of_each_chain
from shelfsync_airflow.tasks import check, extract, recover_first, report, shard, sync_form


@dag_of_each_chain(__doc__, "catalog", hours=12, schedule="full", params=sync_form())
def catalog_full_sync() -> None:
    run = check("full")
    shards = extract(run)
    recover_first(run) >> shard.expand(shard=shards) >> emitting(CATALOG_SYNCED, report)(run)
