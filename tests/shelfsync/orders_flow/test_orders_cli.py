"""`shelfsync orders …` as a script sees it."""

from __future__ import annotations

import json

import sqlalchemy as sa

from order_desk import ASSORTMENT
from orders_world import PHONE


def test_orders_are_listed_shown_accepted_fulfilled_and_cancelled(world, run, tmp_path):
    first = world.place("MILK", transport_type="VENDOR_DELIVERY")
    second = world.place("MILK")
    third = world.place({"sku": "MILK", "quantity": 2})
    world.platform.until_settled()
    assert run("accept", first["order_id"], "--for", "2030-01-01T10:00:00Z").returncode == 0
    assert world.shown(first)["status"] == "ACCEPTED"
    assert run("fulfil", second["external_order_id"], "--as-ordered").returncode == 0
    assert world.shown(second)["status"] == "READY_FOR_PICKUP"
    listed = run("list", "--json")
    assert {row["order_id"] for row in json.loads(listed.stdout)["orders"]} == {
        one["order_id"] for one in (first, second, third)
    }
    result = tmp_path / "result.json"
    result.write_text(json.dumps({"items": [{"sku": "MILK", "status": "picked", "quantity": 9}]}))
    refused = run("fulfil", third["order_id"], "--result", str(result))
    assert (refused.returncode, "9 pieces are more than the 4" in refused.stdout) == (4, True)
    result.write_text(json.dumps({"items": [{"sku": "MILK", "status": "picked", "quantity": 1}]}))
    checked = run("fulfil", third["order_id"], "--result", str(result), "--check")
    assert "1 x MILK : IN_CART, 1.5" in checked.stdout.partition("the platform would make of it:")[2]
    asked = run("cancel", third["order_id"], "--reason", "CLOSED")
    assert (asked.returncode, world.shown(third)["status"]) == (1, "RECEIVED"), "nobody said yes"
    assert run("cancel", third["order_id"], "--reason", "CLOSED", "--yes").returncode == 0
    assert world.shown(third)["status"] == "cancelled"
    shown = run("show", first["order_id"])
    assert "accept" in shown.stdout
    assert PHONE not in listed.stdout + shown.stdout + listed.stderr + shown.stderr


def test_what_was_refused_is_tried_anew_when_it_is_said_again_and_what_was_done_is_not_done_twice(world, run, tmp_path):
    order = world.place("MILK")
    world.platform.until_settled()
    result = tmp_path / "result.json"
    added = {"sku": "JAM", "status": "added", "quantity": 1}
    result.write_text(json.dumps({"items": [{"sku": "MILK", "status": "picked"}, added]}))
    world.platform.put_products("store-001", [one for one in ASSORTMENT if one["sku"] != "JAM"])
    check = ("fulfil", order["order_id"], "--result", str(result), "--check", "--json")
    refused = run(*check)
    assert (refused.returncode, json.loads(refused.stdout)["rules"]) == (4, ["addition_unknown"])
    world.platform.put_products("store-001", ASSORTMENT)
    with world.house.parts.engine.begin() as connection:
        connection.execute(sa.text("DELETE FROM ledger.order_product"))
    checked = run(*check)
    assert (checked.returncode, json.loads(checked.stdout)["state"]) == (0, "checked")
    for word in ("new", "known"):
        told = json.loads(run("fulfil", order["order_id"], "--as-ordered", "--json").stdout)
        assert (told["stored"], told["state"]) == (word, "answered")
    assert world.puts(order) == 2, "one UPDATE_CART and one end"


def test_a_result_that_was_not_stored_is_not_told_as_handled(world, run, tmp_path):
    order = world.place({"sku": "MILK", "quantity": 2})
    world.platform.until_settled()
    result = tmp_path / "result.json"

    def say(quantity):
        line = {"sku": "MILK", "status": "picked", "quantity": quantity}
        result.write_text(json.dumps({"result_id": "till-1", "items": [line]}))
        return run("fulfil", order["order_id"], "--result", str(result), "--check")

    assert say(2).returncode == 0
    told = say(1)
    assert (told.returncode, told.stderr.count("\n")) == (4, 1)
    assert "'till-1' stands for another content" in told.stderr
    assert run("fulfil", order["order_id"], "--as-ordered").returncode == 0
    again = say(2)
    assert (again.returncode, "check checked" in again.stdout) == (0, True), "its own end, not that of the last result"


def test_an_order_that_nobody_knows_is_told_in_one_line(world, run):
    told = run("show", "nobody")
    assert (told.returncode, told.stderr.count("\n")) == (4, 1)
