"""Every DAG on the real scheduler: what it does when there is work, and that it does nothing when there is none."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from installation import campaigns, orders, shelf
from installation.state import Chain

if TYPE_CHECKING:
    import datetime as dt
    from pathlib import Path

    from installation.installed import Installation

pytestmark = pytest.mark.slow

VENDOR = "store-002"
OTHER = "store-003"
HELD = "store-004"
BODIES = 3
"""Stop-sells, prices and the rest each have a body."""
READ_S = 8.0
"""An operator reads before answering. Airflow's LocalExecutor loses an answer within some five seconds, and repeats the question."""


def test_every_dag_is_parsed_and_switched_on(installation: Installation) -> None:
    files = {file.stem for file in (installation.project / "dags").glob("*.py")}
    dags = installation.dags()
    assert dags.keys() == files
    assert [dag_id for dag_id, dag in dags.items() if dag["is_paused"]] == []
    assert installation.get("/importErrors")["import_errors"] == []


def test_a_full_sync_makes_the_platform_equal_to_the_erp_and_repeats_it(installation: Installation) -> None:
    installation.until(lambda: shelf.differences(installation) == [], "the first full sync to have come through")
    before = shelf.journal_end(installation)
    with installation.switched_off("catalog_delta_sync"):
        _three_kinds_of_change(installation, OTHER, shelf.on_sale(installation, OTHER, 6, skip=120))
        installation.run("catalog_full_sync")
    assert len(shelf.sent_since(installation, before, vendor=VENDOR)) >= 1, "it repeats what has not changed"
    assert len(shelf.sent_since(installation, before, vendor=OTHER)) == BODIES
    assert shelf.differences(installation) == []


def test_a_delta_sends_what_changed_and_the_next_one_nothing(installation: Installation) -> None:
    before = shelf.journal_end(installation)
    _three_kinds_of_change(installation, VENDOR, shelf.on_sale(installation, VENDOR, 6))
    installation.run("catalog_delta_sync")
    assert shelf.differences(installation) == []
    assert len(shelf.sent_since(installation, before, vendor=VENDOR)) == BODIES

    before = shelf.journal_end(installation)
    installation.run("catalog_delta_sync")
    assert shelf.sent_since(installation, before, vendor=VENDOR) == [], "elsewhere orders may move the stock"


def test_an_urgent_run_sends_the_named_skus_and_again_nothing(installation: Installation) -> None:
    *urgent, other = shelf.on_sale(installation, OTHER, 7)
    before = shelf.journal_end(installation)
    with installation.switched_off("catalog_delta_sync"):
        _three_kinds_of_change(installation, OTHER, urgent)
        installation.run("catalog_urgent_sync", vendors=[OTHER], skus=urgent)
        assert shelf.differences(installation) == []
    assert len(shelf.sent_since(installation, before, vendor=OTHER)) == BODIES
    before = shelf.journal_end(installation)
    installation.run("catalog_urgent_sync", vendors=[OTHER], skus=[other])
    assert shelf.sent_since(installation, before, vendor=OTHER) == []


def _three_kinds_of_change(installation: Installation, vendor: str, skus: list[str]) -> None:
    """Six products: two leave the range, two become dearer, two are limited in an order; every run sees all of it or nothing."""
    with installation.at_once():
        shelf.set_listed(installation, vendor, skus[:2], active=False)
        for sku in skus[2:4]:
            shelf.move_price(installation, vendor, sku)
        for sku in skus[4:]:
            shelf.set_limit(installation, vendor, sku, 3)


def test_a_hold_is_asked_about_and_sent_when_a_person_approves(installation: Installation) -> None:
    many = shelf.on_sale(installation, HELD, 3000)
    shelf.set_listed(installation, HELD, many, active=False)
    installation.run("catalog_delta_sync")
    assert all(product["active"] for sku, product in shelf.products(installation, HELD).items() if sku in set(many))

    question = installation.until(lambda: _question(installation), "a question about the hold")
    run_id = question["dag_run_id"]
    path = (
        f"/dags/catalog_holds/dagRuns/{run_id}/taskInstances/{question['task_id']}/{question['map_index']}/hitlDetails"
    )
    time.sleep(READ_S)
    installation.call("PATCH", path, json={"chosen_options": ["Approve"], "params_input": {}})
    installation.ended("catalog_holds", run_id)
    installation.until(
        lambda: not _still_on(installation, HELD, many), "what was approved to leave, in this run or in a newer one"
    )

    shelf.set_listed(installation, HELD, many, active=True)
    installation.run("catalog_delta_sync")
    run = installation.run("catalog_holds")
    assert {task["task_id"] for task in installation.tasks("catalog_holds", run) if task["state"] == "success"} >= {
        "ask"
    }
    assert shelf.differences(installation) == []


def test_an_export_finds_what_was_changed_in_the_portal_and_then_nothing(installation: Installation) -> None:
    (sku,) = shelf.on_sale(installation, VENDOR, 1, skip=20)
    assert _drift_of(installation, VENDOR, sku) == set(), "an export to compare the next one with"
    shelf.edit_in_portal(installation, VENDOR, sku, price=1.11)
    judged = {
        ("price", "changed_on_platform"),
        ("price", "acknowledged_not_applied"),
    }  # the latter after a look too early
    installation.until(lambda: judged & _drift_of(installation, VENDOR, sku), "an export that is late enough to judge")
    installation.run("catalog_delta_sync")
    assert shelf.differences(installation) == [], "the next delta sends the ERP's price again"
    assert _drift_of(installation, VENDOR, sku) == set()


def test_what_was_too_young_for_an_export_is_looked_at_again_by_itself(installation: Installation) -> None:
    (sku,) = shelf.on_sale(installation, OTHER, 1, skip=25)
    shelf.move_price(installation, OTHER, sku)
    installation.run("catalog_delta_sync")
    shelf.edit_in_portal(installation, OTHER, sku, price=1.11)
    assert _drift_of(installation, OTHER, sku) == {("price", "export_older_than_change")}
    installation.until(
        lambda: ("price", "acknowledged_not_applied") in _found(installation, OTHER, sku),
        "the second look",
        timeout_s=300,
    )
    installation.run("catalog_delta_sync")
    assert shelf.differences(installation) == [], "the next delta sends the ERP's price again"


def _drift_of(installation: Installation, vendor: str, sku: str) -> set[tuple[str, str]]:
    """Field and cause of each difference that an export of now finds at one product."""
    (now,) = installation.rows("SELECT now() AS instant")
    installation.run("assortment_export", vendors=[vendor])
    return _found(installation, vendor, sku, since=now["instant"])


def _found(
    installation: Installation, vendor: str, sku: str, since: dt.datetime | str = "-infinity"
) -> set[tuple[str, str]]:
    query = "SELECT field, cause FROM warehouse.drift WHERE vendor = %(vendor)s AND sku = %(sku)s AND observed_at > %(since)s"
    return {(row["field"], row["cause"]) for row in installation.rows(query, vendor=vendor, sku=sku, since=since)}


def test_a_campaign_begins_changes_and_ends_and_the_next_run_sends_nothing(installation: Installation) -> None:
    skus = shelf.on_sale(installation, VENDOR, 2, skip=40)
    campaigns.add(installation, "till-offer", VENDOR, campaigns.reduced(installation, VENDOR, skus))
    run_id = installation.run("promotions_sync")
    assert campaigns.in_force(installation, "Offer till-offer") == 1
    waits = {task["task_id"]: task for task in installation.tasks("promotions_sync", run_id)}
    assert [waits[name]["state"] for name in ("wait", "wait_ends")] == ["success", "success"]
    assert [waits[name]["pid"] for name in ("wait", "wait_ends")] == [None, None], "no worker waits"

    before = shelf.journal_end(installation)
    installation.run("promotions_sync")
    assert shelf.sent_since(installation, before, "put_promotion") == []

    campaigns.end(installation, "till-offer")
    installation.run("promotions_sync")
    assert campaigns.in_force(installation, "Offer till-offer") == 0


def test_an_approved_campaign_starts_the_sync_of_promotions(installation: Installation, tmp_path: Path) -> None:
    chain = Chain(installation, tmp_path)
    with installation.switched_off("promotions_sync"):  # its own schedule may be first
        name = chain.held_campaign("store-005")
        chain.run("holds", "approve", "--campaign", name, "--yes", "--reason", "the flyer")
        run_id = installation.run("promotions_recover")
        states = {task["task_id"]: task["state"] for task in installation.tasks("promotions_recover", run_id)}
        assert states["start_sync"] == "success"
    installation.until(lambda: campaigns.in_force(installation, f"Offer {name}") == 1, "the approved campaign")
    campaigns.end(installation, name)
    installation.run("promotions_sync")
    assert campaigns.in_force(installation, f"Offer {name}") == 0


@pytest.mark.parametrize(
    ("dag_id", "asset"),
    [
        ("catalog_delta_sync", "shelfsync_catalog_synced"),
        ("assortment_export", "shelfsync_export_observed"),
        ("promotions_sync", "shelfsync_promotions_synced"),
    ],
)
def test_a_dag_of_the_operator_can_wait_for_the_end_of_a_run(
    installation: Installation, dag_id: str, asset: str
) -> None:
    run_id = installation.run(dag_id)
    found = installation.get("/assets/events", source_dag_id=dag_id, source_run_id=run_id)["asset_events"]
    assert [(event["name"], event["extra"]["state"]) for event in found] == [(asset, "succeeded")]


def test_an_order_is_picked_fulfilled_and_archived(installation: Installation) -> None:
    (sku,) = shelf.on_sale(installation, OTHER, 1, skip=60)
    order = orders.place(installation, OTHER, sku)
    installation.until(lambda: orders.state(installation, order) == "READY_FOR_PICKUP", "the order to be picked")
    cancelled = orders.place(installation, OTHER, sku)
    installation.sandbox("POST", f"/orders/{cancelled}/cancel", {})
    for step in ("dispatch", "pick-up"):
        installation.sandbox("POST", f"/orders/{order}/{step}")
    ended = {order: "PICKED_UP", cancelled: "CANCELLED"}

    def archived() -> bool:
        installation.run("orders_history")
        return orders.archived(installation, ended) == ended

    installation.until(archived, "both orders to be archived")

    before = shelf.journal_end(installation)
    installation.run("orders_fulfilment")
    assert shelf.sent_since(installation, before, "put_order") == []


def test_what_a_killed_sync_left_open_is_finished_by_the_schedule_of_settling(installation: Installation) -> None:
    (sku,) = shelf.on_sale(installation, OTHER, 1, skip=80)
    with installation.switched_off("catalog_delta_sync"), installation.slow_jobs(20):
        price = shelf.move_price(installation, OTHER, sku)
        before = shelf.journal_end(installation)
        installation.killed("sync", "--vendor", OTHER, after=lambda: shelf.sent_since(installation, before))
        done = "SELECT 1 FROM warehouse.baseline WHERE vendor = %(vendor)s AND sku = %(sku)s AND price = %(price)s"
        installation.until(
            lambda: installation.rows(done, vendor=OTHER, sku=sku, price=price), "the job to be acknowledged"
        )
    runs = installation.runs("catalog_recover", "success")
    assert runs, "no run of catalog_recover has succeeded"
    assert shelf.products(installation, OTHER)[sku]["price"] == price


def test_what_a_killed_promotion_sync_left_open_is_finished_by_its_schedule(installation: Installation) -> None:
    skus = shelf.on_sale(installation, OTHER, 1, skip=100)
    with installation.switched_off("promotions_sync"), installation.slow_jobs(20):
        campaigns.add(installation, "left-open", OTHER, campaigns.reduced(installation, OTHER, skus))
        before = shelf.journal_end(installation)
        sent = partial(shelf.sent_since, installation, before, "put_promotion")
        installation.killed("promotions", "sync", after=sent)
        still_open = "SELECT 1 FROM ledger.job WHERE kind = 'promotion' AND state IN ('planned', 'submitting', 'open')"
        installation.until(lambda: not installation.rows(still_open), "the promotion's job to end")
    assert campaigns.in_force(installation, "Offer left-open") == 1


def test_an_alert_opens_and_closes_by_the_schedule_alone(installation: Installation) -> None:
    opened = "SELECT alert_id, closed_at FROM ledger.alert WHERE kind = 'paused' AND subject = 'vendor store-006' ORDER BY 1 DESC"
    installation.shelfsync("pause", "store-006", "--reason", "stocktaking")
    installation.until(lambda: any(row["closed_at"] is None for row in installation.rows(opened)), "the alert", 120)
    installation.shelfsync("resume", "store-006")
    installation.until(lambda: installation.rows(opened)[0]["closed_at"], "its end", 120)


def test_housekeeping_removes_what_is_over_its_time_and_then_nothing(installation: Installation) -> None:
    old = "SELECT count(*) AS events FROM inbox.event WHERE received_at < now() - interval '9 minutes'"
    installation.until(lambda: installation.rows(old)[0]["events"], "events that are over their time", 600)
    installation.run("housekeeping")
    assert installation.rows(old)[0]["events"] == 0
    installation.run("housekeeping")
    assert shelf.differences(installation) == []


def _still_on(installation: Installation, vendor: str, skus: list[str]) -> list[str]:
    shown = shelf.products(installation, vendor)
    return [sku for sku in skus if shown[sku]["active"]]


def _question(installation: Installation) -> dict[str, Any] | None:
    """The task with the question about the changes that a guard holds in this test."""
    asked = installation.get("/dags/catalog_holds/dagRuns/~/hitlDetails", response_received=False)["hitl_details"]
    ours = [one["task_instance"] for one in asked if one["subject"].startswith(f"{HELD}: send what mass_deactivation ")]
    return next((task for task in ours if task["state"] in {"awaiting_input", "deferred"}), None)
