"""The page of products has as many rows of each state as the status counts, store by store, filtered and as a file."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from csv_answer import rows_of
from shelfsync.catalog.steps import products as steps
from shelfsync.catalog.steps.overview import overview
from shelfsync.pages import products


def product(sku):
    return {"sku": sku, "barcodes": [], "title": sku, "price": 9.0, "active": True}


@pytest.fixture
def chain(world):
    """Three stores with rows in every state but two: right, held, rejected, quarantined, and one that waits."""
    for store in ("store-001", "store-002", "store-003"):
        world.platform.put_products(store, [product(f"a{number}") for number in range(5)])
        for number in range(5):
            world.erp.put(store, f"a{number}", "1.00")
    world.erp.put("store-001", "unknown", "1.00")
    world.erp.put("store-002", "unknown", "1.00")
    world.erp.put("store-002", "bad", "no price")
    world.sync("full")
    for number in range(4):
        world.erp.put("store-001", f"a{number}", "900.00")
    world.sync("delta")
    world.app.pause("vendor", "store-003", why="test", who="ada")
    world.erp.put("store-003", "a0", "1.01")
    world.sync("delta")
    return world


def counted(world):
    """The number of each group, by the rows of the status."""
    rows = overview(world.app.context)["vendors"]
    return {group: sum(row[name] for row in rows for name in names) for group, names in steps.GROUPS.items()}


@pytest.mark.slow
def test_each_state_has_as_many_rows_as_the_status_counts(chain, browse):
    pages, numbers = browse(chain.app), counted(chain)
    assert {name for name, number in numbers.items() if number} == {
        "right",
        "waiting",
        "held",
        "rejected",
        "quarantined",
    }
    shown = pages.get("/products").text
    for group, number in numbers.items():
        rows = rows_of(pages.get(f"/products.csv?state={group}"))
        assert len(rows) == number, group
        assert {row["state"] for row in rows} <= set(steps.GROUPS[group])
        assert re.search(rf'state={group}"[^>]*>{number} ', shown), group
    assert len(rows_of(pages.get("/products.csv"))) == sum(numbers.values())
    assert "2 of them unknown to the platform" in shown


@pytest.mark.slow
def test_a_row_has_both_prices_and_why_it_is_as_it_is(chain, browse):
    pages = browse(chain.app)
    [rejected] = rows_of(pages.get("/products.csv?state=rejected&vendor=store-001"))
    assert (rejected["sku"], bool(rejected["reason"])) == ("unknown", True)
    held = rows_of(pages.get("/products.csv?state=held"))
    assert {(row["price"], row["price_on_platform"]) for row in held} == {("900.000", "1.000")}
    [quarantined] = rows_of(pages.get("/products.csv?state=quarantined"))
    assert quarantined["sku"] == "bad"
    assert "price" in quarantined["reason"]
    [waiting] = rows_of(pages.get("/products.csv?state=pending&sku=a0"))
    assert waiting["vendor"] == "store-003"


@pytest.mark.slow
def test_a_product_is_in_the_same_state_whether_it_is_asked_for_or_stands_among_all(chain):
    context = chain.app.context
    whole = steps.part(context, steps.Which(), most=100).rows
    assert {row["state"] for row in whole} > {"held", "pending", "quarantined", "rejected_for_good"}
    for begin in ("a", "a0", "bad", "u", "unknown", "z"):
        found = steps.part(context, steps.Which(sku=begin), most=100).rows
        assert found == [row for row in whole if row["sku"].startswith(begin)], begin


@pytest.mark.slow
def test_pages_of_any_size_have_each_row_once(chain, browse, monkeypatch):
    pages = browse(chain.app)
    whole = [(row["vendor"], row["sku"]) for row in rows_of(pages.get("/products.csv"))]
    assert len(whole) == len(set(whole)) == sum(counted(chain).values())
    for rows, stores in ((1, 20), (3, 1), (4, 2), (200, 1)):
        monkeypatch.setattr(products, "ROWS", rows)
        monkeypatch.setattr(steps, "STORES", stores)
        found, address = [], "/products"
        while address:
            shown = pages.get(address).text
            found += re.findall(r"/explain\?vendor=(\S+?)&amp;sku=(\S+?)\"", shown)
            following = re.search(r'href="/shelfsync/pages(/products\?[^"]*after=[^"]*)"', shown)
            address = following and unescape(following.group(1))
        assert found == whole, (rows, stores)


@pytest.mark.slow
def test_the_rows_of_a_store_stand_in_the_order_that_is_asked_for(chain, browse, monkeypatch):
    for number, price in enumerate(("3.00", "1.00", "2.00")):
        chain.erp.put("store-003", f"a{number}", price)
    chain.sync("delta")
    monkeypatch.setattr(products, "ROWS", 2)
    pages = browse(chain.app)
    orders = {"highest price": ["a0", "a2", "a1", "a3", "a4"], "largest difference": ["a0", "a2", "a1", "a3", "a4"]}
    for order, skus in orders.items():
        address, found = f"/products?vendor=store-003&order={order}", []
        while address:
            shown = pages.get(address).text
            found += re.findall(r"/explain\?vendor=store-003&amp;sku=(\S+?)\"", shown)
            following = re.search(r'href="/shelfsync/pages(/products\?[^"]*after=[^"]*)"', shown)
            address = following and unescape(following.group(1))
        assert found == skus, order
        file = pages.get("/products.csv", params={"vendor": "store-003", "order": order})
        assert [row["sku"] for row in rows_of(file)] == skus
    every = pages.get("/products?order=highest+price").text
    assert 'name="order"' not in every, "each store has its own file"
    assert "Name a store to sort its products by price" in every
    assert ("Products of several stores stand by store and SKU" in every, 'name="order"' in every) == (True, False)
    assert pages.get("/products?order=nonsense").status_code == 404
    lost = pages.get("/products?vendor=store-003&order=highest+price&after=store-003&after=z&after=0").text
    assert "sku=a0" in lost, "behind a row that is gone it begins anew"


@pytest.mark.slow
def test_a_store_whose_file_is_gone_is_named_and_the_file_is_no_half(chain, browse):
    [(path,)] = chain.rows(
        "SELECT snapshot_path FROM ledger.vendor_run WHERE vendor = 'store-002' ORDER BY generation DESC LIMIT 1"
    )
    (Path(chain.settings.lake) / path).unlink()
    pages = browse(chain.app)
    answer = pages.get("/products.csv")
    assert (answer.status_code, "a file of store store-002 is gone" in answer.text) == (404, True)
    assert "store-002 cannot be read" in pages.get("/products").text, "its number is known from before"
    with chain.app.context.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM ledger.vendor_count")
    assert "store-002 cannot be read" in pages.get("/products").text
    answer = pages.get("/products.csv")
    assert (answer.status_code, "the files of store-002 cannot be read" in answer.text) == (404, True)
    assert len(rows_of(pages.get("/products.csv?vendor=store-001"))) == 6


@pytest.mark.slow
def test_a_store_whose_file_is_damaged_is_named_and_the_others_are_shown(chain, browse):
    [(path,)] = chain.rows(
        "SELECT snapshot_path FROM ledger.vendor_run WHERE vendor = 'store-002' ORDER BY generation DESC LIMIT 1"
    )
    pages = browse(chain.app)
    assert "cannot be read" not in pages.get("/products").text
    (Path(chain.settings.lake) / path).write_bytes(b"no parquet")
    text = pages.get("/products").text
    assert "store-002 cannot be read" in text
    assert "vendor=store-001" in text


@pytest.mark.slow
def test_a_state_that_does_not_exist_is_an_answer_in_words(chain, browse):
    answer = browse(chain.app).get("/products?state=fine")
    assert (answer.status_code, "Choose one of right, waiting" in answer.text) == (404, True)
    assert browse(chain.app).get("/products?after=a&after=b&after=c").status_code == 400
