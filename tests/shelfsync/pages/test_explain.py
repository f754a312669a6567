from __future__ import annotations

import datetime as dt
import re

import pytest

from shelfsync.cli.times import read_past


@pytest.mark.slow
def test_the_page_asks_for_a_sku_and_explains_it(world, browse):
    world.platform.put_products("store-001", [{"sku": "<b>", "barcodes": [], "title": "A", "price": 9, "active": True}])
    world.erp.put("store-001", "<b>", "3.99")
    world.sync("full")
    page = browse(world.app)
    assert 'name="sku"' in page.get("/explain").text
    found = page.get("/explain", params={"vendor": "store-001", "sku": "<b>"}).text
    assert "The platform acknowledged 3.99 at" in found
    assert re.findall(r'<td>([a-z]+)<td class="long">', found) == ["read", "sent", "answered"]
    assert "<b>" not in found, "what came from an ERP is text, never markup"
    then = page.get("/explain", params={"vendor": "store-001", "sku": "<b>", "at": "2020-01-01T10:00"}).text
    assert "No extract had this store by then" in then


@pytest.mark.slow
def test_a_time_as_the_page_shows_it_includes_what_was_shown_at_it(world, browse):
    """Times are shown in whole seconds: the fraction of the second must not hide what happened in it."""
    world.platform.put_products("store-001", [{"sku": "a", "barcodes": [], "title": "A", "price": 9, "active": True}])
    world.erp.put("store-001", "a", "3.99")
    world.sync("full")
    shown = world.app.explain("store-001", "a").acknowledged.since.astimezone(dt.UTC)
    at = f"{shown:%Y-%m-%dT%H:%M:%S}"
    page = browse(world.app).get("/explain", params={"vendor": "store-001", "sku": "a", "at": at}).text
    assert "The platform acknowledged 3.99 at" in page
    again = world.app.restore(
        "store-001", at=read_past(at), span=dt.timedelta(hours=1), skus=None, why="", who="ada", dry_run=True
    )
    assert again["changes"] == 0


def test_an_unknown_vendor_or_an_invalid_instant_is_reported_on_the_page(world, browse):
    page = browse(world.app)
    assert "no extract had store" in page.get("/explain", params={"vendor": "x", "sku": "y"}).text
    assert "is no instant" in page.get("/explain", params={"vendor": "x", "sku": "y", "at": "noon"}).text


@pytest.mark.slow
def test_the_page_shows_that_an_export_lacks_a_sku_and_that_the_acknowledged_value_is_unknown(make_world, browse):
    world = make_world(drift={"propagation_s": 0})
    rows = [{"sku": sku, "barcodes": [], "title": sku, "price": 9, "active": True} for sku in "ab"]
    world.platform.put_products("store-001", rows)
    for sku in "ab":
        world.erp.put("store-001", sku, "3.99")
    world.sync("full")
    world.app.export("test/1", (), progress=lambda *_: None)
    world.platform.put_products("store-001", rows[1:])
    world.app.export("test/2", (), progress=lambda *_: None)
    found = browse(world.app).get("/explain", params={"vendor": "store-001", "sku": "a"}).text
    assert "<dt>observed</dt><dd>not in the export or listing" in found
    assert "<dt>acknowledged</dt><dd>unknown: observation 2 of the platform did not confirm it" in found


@pytest.mark.slow
def test_the_chart_has_what_the_erp_shelfsync_and_the_platform_had_with_its_numbers(make_world, browse):
    world = make_world(drift={"propagation_s": 0})
    world.platform.put_products("store-001", [{"sku": "a", "barcodes": [], "title": "A", "price": 9, "active": True}])
    world.erp.put("store-001", "a", "3.99")
    world.sync("full")
    world.app.export("test/1", (), progress=lambda *_: None)
    world.erp.put("store-001", "a", "4.50", active=0)
    world.sync("delta")
    world.app.export("test/2", (), progress=lambda *_: None)
    world.app.pause("all", None, why="x", who="ada")
    world.erp.put("store-001", "a", "4.60", active=0)
    world.sync("delta")
    shown = browse(world.app).get("/explain", params={"vendor": "store-001", "sku": "a"}).text
    rows = re.findall(r'<td>(ERP|sent|acknowledged|observed|customer)<td class="n">([\d.]+)<td>(\w+)', shown)
    assert {name: [(price, active) for one, price, active in reversed(rows) if one == name] for name, _, _ in rows} == {
        "ERP": [("3.99", "yes"), ("4.50", "no"), ("4.60", "no")],
        "sent": [("3.99", "yes"), ("4.50", "no")],
        "acknowledged": [("3.99", "yes"), ("4.50", "no")],
        "observed": [("3.99", "yes"), ("4.50", "no")],
    }
    assert shown.count('class="line') == 8, "a sample and a line of each of the four"
    then = browse(world.app).get("/explain", params={"vendor": "store-001", "sku": "a", "at": "2020-01-01T10:00"}).text
    assert "Price and availability" not in then
