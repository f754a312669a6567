"""A task that a person clears does its work again: nothing old is sent, and the run ends as it did."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import pytest

from installation import shelf

if TYPE_CHECKING:
    from installation.installed import Installation

pytestmark = pytest.mark.slow

WITH_WHAT_FOLLOWS = {"extract", "plan", "take", "ask"}
"""What these write is worked on by the tasks behind them, so a person clears them together, as the UI offers first."""

REPEATS = "catalog_full_sync"
"""Cleared with all that follows, it reads the ERP again and sends it, changed or not."""

SENT_SINCE = """
SELECT job_id, sku_outcome.vendor, sku, sku_outcome.state, change, price, quantity, active
FROM warehouse.sku_outcome JOIN warehouse.catalog_job USING (job_id) WHERE sent_at > %(since)s
"""
TRIED_AGAIN = "SELECT vendor, sku FROM warehouse.rejection WHERE next_try_at IS NOT NULL"
"""What the platform rejected for now is due again at a time of its own."""


def _cleared_one_by_one(installation: Installation, dag_id: str) -> list[str]:
    """Clears each task of the newest run that went well, one after the other; the tasks."""
    run = next((one for one in installation.runs(dag_id, "success") if one["run_type"] != "dataset_triggered"), None)
    assert run is not None, f"{dag_id} has no run that went well"
    run_id = run["dag_run_id"]
    cleared = []
    for name in dict.fromkeys(
        task["task_id"] for task in installation.tasks(dag_id, run_id) if task["state"] == "success"
    ):
        body = {
            "dag_run_id": run_id, "task_ids": [name], "dry_run": False, "only_failed": False, "reset_dag_runs": True,
            "include_downstream": name in WITH_WHAT_FOLLOWS,
        }  # fmt: skip
        installation.call("POST", f"/dags/{dag_id}/clearTaskInstances", json=body)
        installation.ended(dag_id, run_id)
        cleared.append(name)
    return cleared


def test_each_task_of_each_dag_may_be_cleared_and_nothing_old_is_sent(installation: Installation) -> None:
    installation.until(lambda: shelf.differences(installation) == [], "platform and ERP to be equal")
    before, since = shelf.journal_end(installation), installation.rows("SELECT now() AS now")[0]["now"]
    erp = shelf.erp_rows(installation)
    due = {(row["vendor"], row["sku"]) for row in installation.rows(TRIED_AGAIN)}
    dags = [dag_id for dag_id in installation.dags() if dag_id != REPEATS]
    with ThreadPoolExecutor(3) as pool:
        cleared = dict(zip(dags, pool.map(partial(_cleared_one_by_one, installation), dags), strict=True))
    assert all(cleared.values()), cleared
    now = shelf.erp_rows(installation)
    changed = {key for key in erp.keys() | now.keys() if erp.get(key) != now.get(key)}
    again = [
        row for row in installation.rows(SENT_SINCE, since=since) if (row["vendor"], row["sku"]) not in changed | due
    ]
    assert again == [], "what has not changed is not sent"
    assert shelf.sent_since(installation, before, "put_promotion") == []

    assert _cleared_one_by_one(installation, REPEATS)
    assert shelf.differences(installation) == []
