"""# Promotions sync

Makes the promotions on the delivery platform equal to the ERP's, every hour and on an event that reports a change.

`check` → `extract` → `plan` → `deliver` → `wait` → `confirm` → `deliver_ends` → `wait_ends` → `confirm_ends` → `report`

* shelfsync creates a promotion, changes it SKU by SKU, and ends it with the data of its creation. Another name, window or set of vendors
  makes another promotion. shelfsync creates the new one and then ends the old one (`deliver_ends` and the tasks after it).
* A guard holds deep discounts, prices below cost, campaigns on most of the assortment, and many promotions that vanish at once. A person
  decides, here under Required Actions, on the page Holds, or by `shelfsync holds`. After an approval, promotions_recover starts this DAG.
* shelfsync records what the platform rejects by vendor and SKU. It does not send it again until something changes.
* `report` also names conflicts between promotions and catalog, with the cause.

**Start it at once** by an event of the asset `shelfsync_promotions_changed`, or by hand. A dry run shows what would be created, changed
and ended. **Clear any task** to go on from there. The schedule is the option `promotions_schedule`.

A run that succeeds emits the asset `shelfsync_promotions_synced`: a DAG of yours can wait for it.
"""

from __future__ import annotations

from airflow.sdk import chain

from shelfsync_airflow.assets import PROMOTIONS_SYNCED, emitting
from shelfsync_airflow.chains import dag_of_each_chain
from shelfsync_airflow.promotion_tasks import (
    check,
    confirm,
    deliver,
    extract,
    plan,
    promotion_form,
    promotions_schedule,
    report,
    wait,
)


@dag_of_each_chain(__doc__, "promotions", hours=3, schedule=promotions_schedule, params=promotion_form())
def promotions_sync() -> None:
    run = check()
    deliver_ends = deliver.override(task_id="deliver_ends")()
    confirm_ends = confirm.override(task_id="confirm_ends")()
    ends = (deliver_ends, wait("wait_ends"), confirm_ends)
    chain(extract(run), plan(run), deliver(), wait("wait"), confirm(), *ends, emitting(PROMOTIONS_SYNCED, report)(run))
