"""# Catalog holds

Asks a person to decide what the guards hold, of the catalog and of promotions: look under **Browse, Required Actions**.

`ask` → for each hold: `approve` (waits for a person) → `release` → `deliver` → `wait` → `confirm`

* A hold contains changes that look like an accident: an emptied store, prices with a wrong decimal point, a file of last week.
  shelfsync keeps sending everything else of this vendor, and every other vendor, while the hold is open.
* A held campaign is the same question. After its approval this DAG sends nothing: promotions_recover starts promotions_sync within minutes.
* **Approve** sends these values. **Decline** keeps them held until the ERP sends other values. **Use these thresholds once** sends what
  the thresholds in the form allow and declines the rest. If the form has no threshold, the hold stays open and the question is repeated.
* The first decision stands, wherever it was taken. If the hold is decided on a page or by a command, its question ends by itself within
  minutes, and an answer before that does nothing. The label of the task reports who decided.
* If no decision comes in time (`SHELFSYNC_GUARDS__HOLD_HOURS`), the values stay held. `ledger.decision` records every decision with person
  and reason.
* If a newer extract has other rows, it supersedes the hold. Then an approval sends nothing and reports this, and the new hold gets a
  question of its own. Sales of new products do not supersede a hold: an approval sends their newest quantities.

A waiting question occupies no worker and no triggerer. A run without a new question ends at once. The schedule is the option
`holds_schedule`.
"""

from __future__ import annotations

from shelfsync_airflow.chains import dag_of_each_chain
from shelfsync_airflow.holds import ask, held_changes


# a run waits up to a day for a decision: more than start in one day
@dag_of_each_chain(__doc__, "catalog", hours=192, schedule="holds", max_active_runs=320, max_active_tasks=256)
def catalog_holds() -> None:
    held_changes.expand(hold=ask())
