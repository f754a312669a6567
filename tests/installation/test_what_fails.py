"""Failed runs are red and report the reason. A run that a person marks as failed blocks no other."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING

import pytest

from crash.victims import kill
from installation import shelf
from installation.installed import ENDED

if TYPE_CHECKING:
    from installation.installed import Installation

pytestmark = pytest.mark.slow

VENDOR = "store-005"


def test_a_run_that_cannot_read_the_erp_is_red_and_names_the_column(installation: Installation) -> None:
    installation.erp("ALTER TABLE erp.listing RENAME COLUMN active TO enabled")
    try:
        run_id = installation.run("catalog_delta_sync", expect="failed")
    finally:
        installation.erp("ALTER TABLE erp.listing RENAME COLUMN enabled TO active")
    states = {task["task_id"]: task["state"] for task in installation.tasks("catalog_delta_sync", run_id)}
    assert states["check"] == "failed", "nothing is begun"
    assert states["report"] == "failed", "the run's last task is red too"
    assert "listing.active" in installation.why("catalog_delta_sync", run_id)
    installation.run("catalog_delta_sync")


def test_a_vendor_whose_requests_fail_is_named_and_the_others_are_sent(installation: Installation) -> None:
    (mine,) = shelf.on_sale(installation, VENDOR, 1)
    (theirs,) = shelf.on_sale(installation, "store-001", 1)
    rule = {"at": "put_catalog", "kind": "status_500", "vendor": VENDOR}
    before = {run["dag_run_id"] for run in installation.runs("catalog_delta_sync")}
    with installation.faults(rule):
        shelf.move_price(installation, VENDOR, mine)
        price = shelf.move_price(installation, "store-001", theirs)
        installation.trigger("catalog_delta_sync")  # or a scheduled run sends both first, and is the one that fails

        def named() -> bool:
            failed = {run["dag_run_id"] for run in installation.runs("catalog_delta_sync", "failed")} - before
            sentence = f"vendor {VENDOR} failed at deliver"
            return any(sentence in installation.why("catalog_delta_sync", run_id) for run_id in failed)

        installation.until(named, "a red run that names the vendor", 600)
        assert shelf.products(installation, "store-001")[theirs]["price"] == price
    installation.until(lambda: shelf.differences(installation) == [], "the next runs to send it")


def test_a_full_sync_that_a_person_marks_as_failed_blocks_no_delta(installation: Installation) -> None:
    (sku,) = shelf.on_sale(installation, VENDOR, 1, skip=5)
    run_id = installation.trigger("catalog_full_sync")
    installation.until(
        lambda: [
            task
            for task in installation.tasks("catalog_full_sync", run_id)
            if task["task_id"] == "shard.prepare" and task["state"] == "success"
        ],
        "the full sync to be on its way",
    )
    # Airflow's own transaction may meet the scheduler's in a deadlock and answer 500; a person presses the button again.
    mark = partial(installation.airflow.patch, f"/api/v2/dags/catalog_full_sync/dagRuns/{run_id}")
    installation.until(lambda: mark(json={"state": "failed"}).is_success, "Airflow to mark the run as failed")
    price = shelf.move_price(installation, VENDOR, sku)

    def a_delta_sends() -> bool:
        delta = installation.trigger("catalog_delta_sync")
        installation.until(lambda: installation.run_state("catalog_delta_sync", delta) in ENDED, f"{delta} to end")
        return bool(shelf.products(installation, VENDOR)[sku]["price"] == price)

    installation.until(a_delta_sends, "a delta to send what changed since", 300)
    installation.run("catalog_full_sync")
    assert shelf.differences(installation) == []


def test_a_run_whose_scheduler_was_killed_with_its_tasks_ends_by_itself_and_sends(installation: Installation) -> None:
    """No process reports the death of its task: the next scheduler finds that it reports nothing, and repeats it."""
    (sku,) = shelf.on_sale(installation, VENDOR, 1, skip=6)
    with installation.switched_off("catalog_delta_sync", "catalog_recover"):
        with installation.faults({"at": "put_catalog", "kind": "never_answer", "vendor": VENDOR, "seconds": 120}):
            price = shelf.move_price(installation, VENDOR, sku)
            run_id = installation.trigger("catalog_full_sync")
            installation.until(
                lambda: [
                    task
                    for task in installation.tasks("catalog_full_sync", run_id)
                    if task["task_id"] == "shard.deliver" and task["state"] == "running"
                ],
                "the full sync to send",
            )
            assert kill(installation.home, "scheduler", random.Random(1)) > 1, "the scheduler and its workers"
        installation.ended("catalog_full_sync", run_id)
    attempts = {task["task_id"]: task["try_number"] for task in installation.tasks("catalog_full_sync", run_id)}
    assert attempts["shard.deliver"] > 1
    assert shelf.products(installation, VENDOR)[sku]["price"] == price
