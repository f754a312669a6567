"""Every DAG on the real scheduler: what it does when there is work, and that it does nothing when there is none."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from installation import shelf

if TYPE_CHECKING:
    from installation.installed import Installation

pytestmark = pytest.mark.slow

VENDOR = "store-002"
OTHER = "store-003"
HELD = "store-004"


def test_every_dag_is_parsed_and_switched_on(installation: Installation) -> None:
    files = {file.stem for file in (installation.project / "dags").glob("*.py")}
    dags = installation.dags()
    assert dags.keys() == files
    assert [dag_id for dag_id, dag in dags.items() if dag["is_paused"]] == []
    assert installation.get("/importErrors")["import_errors"] == []


def test_a_full_sync_makes_the_platform_equal_to_the_erp_and_repeats_it(installation: Installation) -> None:
    assert shelf.differences(installation) == []
    before = shelf.journal_end(installation)
    installation.run("catalog_full_sync")
    assert shelf.sent_since(installation, before)
    assert shelf.differences(installation) == []


def test_a_delta_sends_what_changed_and_the_next_one_nothing(installation: Installation) -> None:
    sku, gone, cheap = shelf.on_sale(installation, VENDOR, 3)
    shelf.set_price(installation, VENDOR, sku, "7.0019")
    shelf.set_price(installation, VENDOR, cheap, "6.50")
    shelf.set_listed(installation, VENDOR, [gone], active=False)
    before = shelf.journal_end(installation)
    installation.run("catalog_delta_sync")
    shown = shelf.products(installation, VENDOR)
    assert shown[sku]["price"] == Decimal("7.001")
    assert shown[cheap]["price"] == Decimal("6.5")
    assert not shown[gone]["active"]
    assert shelf.sent_since(installation, before)

    before = shelf.journal_end(installation)
    installation.run("catalog_delta_sync")
    assert shelf.sent_since(installation, before) == []


def test_an_urgent_run_sends_the_named_sku_and_again_nothing(installation: Installation) -> None:
    urgent, other = shelf.on_sale(installation, OTHER, 2)
    shelf.set_price(installation, OTHER, urgent, "3.25")
    installation.run("catalog_urgent_sync", vendors=[OTHER], skus=[urgent])
    assert shelf.products(installation, OTHER)[urgent]["price"] == Decimal("3.25")
    before = shelf.journal_end(installation)
    installation.run("catalog_urgent_sync", vendors=[OTHER], skus=[other])
    assert shelf.sent_since(installation, before) == []


def test_a_hold_is_asked_about_and_sent_when_a_person_approves(installation: Installation) -> None:
    many = shelf.on_sale(installation, HELD, 900)
    shelf.set_listed(installation, HELD, many, active=False)
    installation.run("catalog_delta_sync")
    assert all(product["active"] for sku, product in shelf.products(installation, HELD).items() if sku in set(many))

    run_id, question = installation.until(lambda: _question(installation), "a question about the hold")
    path = (
        f"/dags/catalog_holds/dagRuns/{run_id}/taskInstances/{question['task_id']}/{question['map_index']}/hitlDetails"
    )
    asked = installation.get(path)
    assert HELD in asked["subject"] + asked["body"]
    installation.call("PATCH", path, json={"chosen_options": ["Approve"], "params_input": {}})
    installation.ended("catalog_holds", run_id)
    shown = shelf.products(installation, HELD)
    assert [sku for sku in many if shown[sku]["active"]] == []

    shelf.set_listed(installation, HELD, many, active=True)
    installation.run("catalog_delta_sync")
    run = installation.run("catalog_holds")
    assert {task["task_id"] for task in installation.tasks("catalog_holds", run) if task["state"] == "success"} >= {
        "ask"
    }
    assert shelf.differences(installation) == []


def test_an_export_finds_what_was_changed_in_the_portal_and_then_nothing(installation: Installation) -> None:
    (sku,) = shelf.on_sale(installation, VENDOR, 1, skip=20)
    shelf.edit_in_portal(installation, VENDOR, sku, price=1.11)
    found = _drift_of(installation, installation.run("assortment_export"))
    assert (VENDOR, sku, "price") in found
    installation.until(lambda: shelf.differences(installation) == [], "the next delta to send the ERP's price again")
    assert _drift_of(installation, installation.run("assortment_export")) == set()


def _drift_of(installation: Installation, run_id: str) -> set[tuple[str, str, str]]:
    """Vendor, SKU and field of each difference that an export run found."""
    key = f"assortment_export/{run_id}"
    query = "SELECT d.vendor, d.sku, d.field FROM warehouse.drift AS d WHERE d.run_key = %(key)s"
    return {(row["vendor"], row["sku"], row["field"]) for row in installation.rows(query, key=key)}


def _question(installation: Installation) -> tuple[str, dict[str, Any]] | None:
    """A run of catalog_holds that waits for a person, and the task that asks."""
    for run in installation.runs("catalog_holds", "running"):
        for task in installation.tasks("catalog_holds", run["dag_run_id"]):
            if task["task_id"].endswith("approve") and task["state"] in {"awaiting_input", "deferred"}:
                return run["dag_run_id"], task
    return None


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)
