"""A law over random states: a figure of a page is that of the status, of the warehouse's view, and the number of rows behind it."""

from __future__ import annotations

import random
import re

import pytest
from sqlalchemy import text as sql

from csv_answer import rows_of
from shelfsync.catalog.ledger.vendor_counts import NUMBERS
from shelfsync.catalog.steps.overview import overview
from shelfsync.catalog.steps.products import BY_ERP, GROUPS

STORES = ("store-001", "store-002", "store-003")
PRICES = ("1.00", "1.05", "1.10", "900.00", "no price", "-3")
COUNTED = (*(name for name in NUMBERS if not name.startswith("rejected")), "rejected")
LABELS = {
    "ERP rows": "erp_rows",
    "right": "acknowledged",
    "to be sent": "pending",
    "on their way": "in_flight",
    "sent, no result yet": "unconfirmed",
    "right but for a quantity": "suppressed",
    "no longer in the ERP, still on sale": "absent",
    "not in the ERP": "not_in_erp",
}


def product(sku):
    return {"sku": sku, "barcodes": [], "title": sku, "price": 9.0, "active": True}


def act(world, chance):
    """Something that changes a state."""
    store = chance.choice(STORES)
    match chance.choice(("price", "price", "price", "gone", "stranger", "pause", "listed", "decide")):
        case "price":
            for number in chance.sample(range(8), 4):
                world.erp.put(store, f"a{number}", chance.choice(PRICES))
        case "gone":
            world.erp.execute("DELETE FROM stock WHERE vendor = ? AND sku = ?", store, f"a{chance.randrange(8)}")
        case "stranger":
            world.erp.put(store, f"u{chance.randrange(3)}", "2.00")
        case "pause":
            paused = any(row["paused"] for row in world.app.status()["vendors"] if row["vendor"] == store)
            turn = world.app.resume if paused else world.app.pause
            turn("vendor", store, why="law", who="ada")
        case "listed":
            world.platform.put_products(store, [product(f"a{number}") for number in chance.sample(range(8), 5)])
            world.app.export(f"law/{chance.random()}", (), progress=lambda *_: None)
        case "decide":
            for [number] in world.rows("SELECT hold_id FROM ledger.hold WHERE state = 'open' LIMIT 1"):
                world.app.holds.decide(number, approve=chance.random() < 0.5, who="ada")


def counts_of(part):
    """{column of the status: number} of a tile."""
    pairs = re.findall(r"<dt>([^<]+)</dt><dd><a [^>]*>([\d,]+)</a></dd>", part)
    found = {LABELS.get(label, label): int(number.replace(",", "")) for label, number in pairs}
    return {name: number for name, number in found.items() if name in COUNTED}


def check(world, pages):
    status = overview(world.app.context)
    with world.app.context.engine.connect() as connection:
        view = {
            row["vendor"]: dict(row)
            for row in connection.execute(sql("SELECT * FROM warehouse.vendor_count")).mappings()
        }
        rejected = dict(connection.execute(sql("SELECT reason, count(*) FROM warehouse.rejection GROUP BY 1")).all())
    first = pages.get("/").text
    tiles = re.findall(
        r'<li class="tile [^"]*">.*?vendor=([^"]+)".*?<span class="state">([^<]+)(.*?)</li>', first, re.DOTALL
    )
    assert sorted((vendor, state) for vendor, state, _ in tiles) == sorted(
        (row["vendor"], row["condition"]) for row in status["vendors"]
    )
    assert f'<p class="lead">{status["sentence"]}</p>' in first
    of_tiles = {vendor: counts_of(part) for vendor, _, part in tiles}
    for row in status["vendors"]:
        vendor = row["vendor"]
        assert {name: row[name] for name in NUMBERS} == {name: view[vendor][name] for name in NUMBERS}, vendor
        known = {name: row[name] for name in COUNTED if row[name] or name in {"erp_rows", "acknowledged"}}
        store = pages.get("/store", params={"vendor": vendor}).text
        tile = store.partition('<section class="tile')[2].partition("</section>")[0]
        assert counts_of(tile) == of_tiles[vendor] == known, vendor
        for name in BY_ERP:
            file = pages.get("/products.csv", params={"vendor": vendor, "state": name})
            assert len(rows_of(file)) == row[name], (vendor, name)
    shown = pages.get("/products").text
    for group, names in GROUPS.items():
        number = sum(row[name] for row in status["vendors"] for name in names)
        assert re.search(rf'state={group}"[^>]*>{number} ', shown), (group, number)
        assert len(rows_of(pages.get(f"/products.csv?state={group}"))) == number, group
    reasons = re.findall(
        r'reason=[^"]*">([^<]+)</a><td class="n">([\d,]+)<td class="n">', pages.get("/rejections").text
    )
    assert {reason: int(rows) for reason, rows in reasons} == rejected
    assert len(rows_of(pages.get("/rejections.csv"))) == sum(rejected.values())
    waits = rows_of(pages.get("/holds.csv?state=open"))
    assert len(waits) == status["holds_waiting"]
    by_rule = re.findall(
        r'<tr><td>products<td>([\w ]+)<td class="n">(\d+)<td class="n">\d+<td class="n">(\d+)<td>',
        pages.get("/holds").text,
    )
    assert {rule.replace(" ", "_"): (int(holds), int(rows)) for rule, holds, rows in by_rule} == {
        rule: (
            sum(row["rule"] == rule for row in waits),
            sum(int(row["rows"]) for row in waits if row["rule"] == rule),
        )
        for rule in {row["rule"] for row in waits}
    }
    return {name: sum(row[name] for row in status["vendors"]) for name in NUMBERS}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_each_figure_is_that_of_the_status_and_of_the_warehouse(make_world, browse, seed):
    world, chance = make_world(drift={"propagation_s": 0}), random.Random(seed)
    for store in STORES:
        world.platform.put_products(store, [product(f"a{number}") for number in range(8)])
        for number in range(8):
            world.erp.put(store, f"a{number}", "1.00")
    world.sync("full")
    pages, seen = browse(world.app), set()
    for _ in range(6):
        for _ in range(3):
            act(world, chance)
        world.sync(chance.choice(("delta", "delta", "full")))
        seen |= {name for name, number in check(world, pages).items() if number}
    assert seen >= {"acknowledged", "held", "rejected_for_good", "quarantined"}, "the states are not all alike"
