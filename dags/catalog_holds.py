"""# Catalog holds

Asks a person about what the guards hold back: look under **Browse, Required Actions**.

`ask` → for each held slice: `approve` (waits for a person) → `release` → `deliver` → `wait` → `confirm` → `acknowledge`

* A slice is what looks like an accident: a store that empties, prices whose decimal point has slipped, last week's file. Everything
  else of the vendor, and every other vendor, has been sent already and goes on being sent while you think.
* **Approve** sends these values. **Reject** keeps them held until the ERP says something else. **Use these thresholds once** sends what
  the thresholds in the form let through and rejects the rest. If the form names none, nothing is decided and the question comes again.
* Nobody in time is a rejection (`SHELFSYNC_GUARDS__HOLD_HOURS`). Every decision stands in `ledger.decision`, with person and reason.
* A newer extract with other rows supersedes a slice: then an approval sends nothing, says so, and the new slice is asked about anew.
  What new products have sold meanwhile makes no other slice: an approval sends their newest quantities.

No worker and no triggerer is held while a question waits. A run without a new question ends at once. The schedule is the option
`holds_schedule`.
"""

from __future__ import annotations

import datetime as dt

from airflow.sdk import dag

from shelfsync_airflow.failures import task_defaults
from shelfsync_airflow.holds import ask, held_slice
from shelfsync_airflow.options import owner_links, schedule


@dag(
    schedule=schedule("holds"),
    start_date=dt.datetime(2025, 1, 1, tzinfo=dt.UTC),
    catchup=False,
    max_active_runs=320,  # a run waits as long as its question, a day: more than begin in a day, or nobody is asked
    max_active_tasks=256,
    dagrun_timeout=dt.timedelta(days=8),
    default_args=task_defaults(),
    tags=["shelfsync", "catalog"],
    owner_links=owner_links(),
    doc_md=__doc__,
)
def catalog_holds() -> None:
    held_slice.expand(hold=ask())


catalog_holds()
