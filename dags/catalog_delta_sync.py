"""# Catalog delta sync

Sends what changed in the ERP since the last acknowledgement to the delivery platform, every 15 minutes.

`check` → `recover` and `extract` → for each shard of vendors: `prepare` (normalise, diff, guard, batch) → `deliver` → `wait` → `confirm`
(and acknowledge) → `report`

* shelfsync sends only fields that differ from what the platform acknowledged. A run without changes sends nothing.
* A change that an earlier run did not complete is still a difference. This run sends it again, with the newest values.
* A product that has left the ERP is deactivated. If this concerns many products of a vendor, a guard holds them for a person.
* If a job does not end until the next delta is due, this run ends without its outcome. With `delta_watch` = changes it waits at most a
  minute. `catalog_recover` or the next run reads the outcome.
* If a vendor fails, the others go on. `report` fails at the end and names the vendor and the reason.

**Start it by hand** for some vendors, or as a dry run that shows what would be sent. **Clear any task** to go on from there. The
ledger records what was sent and acknowledged, so shelfsync sends nothing old again. The schedule is the option `delta_schedule`.

With `SHELFSYNC_ERP__CHANGES_SQL` the run reads only what changed, and `check` skips it if nothing did. With the option
`delta_watch` = changes, a change in the ERP starts it within seconds as well.

A run of every vendor that succeeds emits the asset `shelfsync_catalog_synced`: a DAG of yours can wait for it.
"""

from __future__ import annotations

from shelfsync_airflow.assets import CATALOG_SYNCED, emitting
from shelfsync_airflow.chains import dag_of_each_chain
from shelfsync_airflow.delta_watch import delta_schedule
from shelfsync_airflow.tasks import check, extract, recover_first, report, shard, sync_form


@dag_of_each_chain(__doc__, "catalog", hours=3, schedule=delta_schedule, params=sync_form())
def catalog_delta_sync() -> None:
    run = check("delta")
    shards = extract(run)
    recover_first(run) >> shard.expand(shard=shards) >> emitting(CATALOG_SYNCED, report)(run)
