"""# Catalog urgent sync

Sends named SKUs of some vendors to the delivery platform at once, before all other work: a recall, a wrong price, a product that has
just run out. A person starts it and enters vendors and SKUs in the form.

`check` → `recover` and `extract` → for each shard of vendors: `prepare` (normalise, diff, guard, batch) → `deliver` → `wait` → `confirm`
(and acknowledge) → `report`

* shelfsync reads the newest values from the ERP and sends them. Correct the ERP first.
* The guards apply here too: what a guard holds stays held until a person decides.
* If a job of the vendor is open, the run waits for it up to five minutes. Then it reports the vendor as busy.
* Up to four urgent runs work side by side, so that one whose job hangs keeps no other vendor's waiting.
* Everything else of the vendor waits for the next delta. The report has the outcome of each SKU.

The command line does the same: `shelfsync sync --vendor store-001 --sku 4711`. **Clear any task** to go on from there.
"""

from __future__ import annotations

from shelfsync_airflow.chains import dag_of_each_chain
from shelfsync_airflow.tasks import check, extract, recover_first, report, shard, urgent_form


# four at once: one whose job hangs keeps no other urgent run waiting
@dag_of_each_chain(__doc__, "catalog", hours=1, max_active_runs=4, params=urgent_form())
def catalog_urgent_sync() -> None:
    run = check("delta")
    shards = extract(run)
    recover_first(run) >> shard.expand(shard=shards) >> report(run)
