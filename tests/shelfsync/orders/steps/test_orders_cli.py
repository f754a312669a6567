"""`shelfsync orders …` as a script uses it."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa

from documents import data
from order_picker import ASSORTMENT
from orders_world import PHONE


@pytest.mark.slow
def test_orders_are_listed_shown_accepted_fulfilled_and_cancelled(world, run, tmp_path):
    first = world.place("MILK", transport_type="VENDOR_DELIVERY")
    second = world.place("MILK")
    third = world.place({"sku": "MILK", "quantity": 2})
    world.platform.until_quiescent()
    assert run("accept", first["order_id"], "--at", "2030-01-01T10:00").returncode == 0
    assert world.shown(first)["status"] == "ACCEPTED"
    assert run("fulfil", second["external_order_id"], "--as-ordered").returncode == 0
    assert world.shown(second)["status"] == "READY_FOR_PICKUP"
    listed = run("list", "--json")
    assert {row["order_id"] for row in data(listed.stdout)["orders"]} == {
        one["order_id"] for one in (first, second, third)
    }
    result = tmp_path / "result.json"
    result.write_text(json.dumps({"items": [{"sku": "MILK", "status": "picked", "quantity": 9}]}))
    rejected = run("fulfil", third["order_id"], "--result", str(result))
    assert (rejected.returncode, "9 pieces are more than the 4" in rejected.stdout) == (4, True)
    result.write_text(json.dumps({"items": [{"sku": "MILK", "status": "picked", "quantity": 1}]}))
    checked = run("fulfil", third["order_id"], "--result", str(result), "--dry-run")
    assert "1 x MILK: IN_CART, 1.50" in checked.stdout.partition("the order would become:")[2]
    asked = run("cancel", third["order_id"], "--reason", "CLOSED")
    assert (asked.returncode, world.shown(third)["status"]) == (1, "RECEIVED"), "the command was not confirmed"
    assert run("cancel", third["order_id"], "--reason", "CLOSED", "--force").returncode == 0
    assert world.shown(third)["status"] == "cancelled"
    shown = run("show", first["order_id"])
    assert "accept" in shown.stdout
    assert PHONE not in listed.stdout + shown.stdout + listed.stderr + shown.stderr


@pytest.mark.slow
def test_a_rejected_result_is_tried_again_and_a_finished_one_is_not_repeated(world, run, tmp_path):
    order = world.place("MILK")
    world.platform.until_quiescent()
    result = tmp_path / "result.json"
    added = {"sku": "JAM", "status": "added", "quantity": 1}
    result.write_text(json.dumps({"items": [{"sku": "MILK", "status": "picked"}, added]}))
    world.platform.put_products("store-001", [one for one in ASSORTMENT if one["sku"] != "JAM"])
    check = ("fulfil", order["order_id"], "--result", str(result), "--dry-run", "--json")
    rejected = run(*check)
    assert (rejected.returncode, data(rejected.stdout)["rules"]) == (4, ["addition_unknown"])
    world.platform.put_products("store-001", ASSORTMENT)
    with world.app.context.engine.begin() as connection:
        connection.execute(sa.text("DELETE FROM ledger.order_product"))
    checked = run(*check)
    assert (checked.returncode, data(checked.stdout)["state"]) == (0, "checked")
    for word in ("new", "known"):
        output = data(run("fulfil", order["order_id"], "--as-ordered", "--json").stdout)
        assert (output["stored"], output["state"]) == (word, "answered")
    assert world.puts(order) == 2, "one UPDATE_CART and one end"


@pytest.mark.slow
def test_a_result_that_was_not_stored_is_not_reported_as_handled(world, run, tmp_path):
    order = world.place({"sku": "MILK", "quantity": 2})
    world.platform.until_quiescent()
    result = tmp_path / "result.json"

    def fulfil_with(quantity):
        line = {"sku": "MILK", "status": "picked", "quantity": quantity}
        result.write_text(json.dumps({"result_id": "till-1", "items": [line]}))
        return run("fulfil", order["order_id"], "--result", str(result))

    assert "fulfil rejected" in fulfil_with(9).stdout
    ended = fulfil_with(1)
    assert (ended.returncode, ended.stderr.count("\n")) == (4, 1)
    assert "'till-1' has another content already" in ended.stderr
    assert run("fulfil", order["order_id"], "--as-ordered").returncode == 0
    again = fulfil_with(9)
    assert (again.returncode, "fulfil rejected" in again.stdout) == (4, True), (
        "its own outcome, not that of the last result"
    )


@pytest.mark.slow
def test_a_dry_run_leaves_the_result_id_of_its_file_to_the_result_itself(world, here, tmp_path):
    order = world.place("MILK")
    world.receive_events()
    result = tmp_path / "result.json"
    result.write_text(json.dumps({"result_id": "till-7/991", "items": [{"sku": "MILK", "status": "picked"}]}))
    fulfil = ("fulfil", order["order_id"], "--result", str(result))
    for _ in range(2):
        code, output, _ = here(*fulfil, "--dry-run")
        assert (code, "check checked" in output) == (0, True)
    code, output, _ = here(*fulfil)
    assert (code, "fulfil answered" in output) == (0, True)
    assert world.report(order, "fulfil", {"sku": "MILK", "status": "picked"}, result_id="till-7/991").status_code == 200


@pytest.mark.slow
def test_an_unknown_order_is_an_error_of_one_line(world, run):
    ended = run("show", "unknown")
    assert (ended.returncode, ended.stderr.count("\n")) == (4, 1)


@pytest.mark.slow
def test_a_code_that_two_stores_use_changes_no_order_until_the_order_id_is_named(world, here):
    world.platform.put_products("store-002", ASSORTMENT)
    older = world.place("MILK", vendor="store-002", ago_s=600)
    newer = world.place("MILK", ago_s=60)
    world.receive_events()
    with world.app.context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE warehouse.customer_order SET order_code = '0815'"))
    commands = (
        ("cancel", "0815", "--reason", "CLOSED", "--force"),
        ("accept", "0815", "--at", "2030-01-01T10:00"),
        ("fulfil", "0815", "--as-ordered"),
        ("retry", "0815"),
        ("forget", "0815", "--force"),
    )
    for command in commands:
        code, _, error = here(*command)
        assert (code, error.count("\n")) == (4, 1), command
        assert "name the order_id" in error
        for order, store in ((older, "store-002"), (newer, "store-001")):
            assert f"{order['order_id']} of store {store}, placed 2" in error, command
    assert world.rows("SELECT count(*) FROM ledger.picking_result") == [(0,)]

    code, output, _ = here("show", "0815")
    assert (code, output.partition("also means:")[2].count("of store store-002, placed 2")) == (0, 1)
    code, _, asked = here("cancel", older["order_id"], "--reason", "CLOSED")
    assert (code, f"{older['order_id']} of store store-002, placed 2" in asked) == (1, True)
    code, _, asked = here("forget", older["order_id"])
    assert (code, f"{older['order_id']} of store store-002, placed 2" in asked) == (1, True)
    assert here("cancel", older["order_id"], "--reason", "CLOSED", "--force")[0] == 0
    assert [world.shown(order)["status"] for order in (older, newer)] == ["cancelled", "RECEIVED"]
