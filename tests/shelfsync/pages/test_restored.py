"""A restoration in force is shown in the status, on its page, and on the page that explains a SKU."""

from __future__ import annotations

import re

import pytest

from restored_price import WHY, order_restoration


@pytest.mark.slow
def test_a_restoration_in_force_is_in_the_status_and_on_both_pages(world, browse):
    order_restoration(world)
    (line,) = world.app.status()["restorations"]
    assert line.startswith("1 SKUs of store store-001 is kept as it was at")
    assert line.endswith(f"by ada: {WHY}")
    page = browse(world.app)
    assert re.search(f"RESTORED: 1 SKUs of store store-001 .* until .* by ada: {WHY}", page.get("/").text)
    text = page.get("/explain", params={"vendor": "store-001", "sku": "a"}).text
    assert re.search(f"<dt>restored</dt><dd>.* until .* by ada: {WHY}", text)
    assert "<dt>ERP</dt><dd>price 5.66" in text
    assert "<dt>wanted</dt><dd>price 5.18" in text
    world.app.end_restoration("store-001", who="bob")
    assert "RESTORED" not in page.get("/").text
    assert "<dt>restored</dt>" not in page.get("/explain", params={"vendor": "store-001", "sku": "a"}).text


@pytest.mark.slow
def test_the_page_of_the_vendors_shows_the_columns_of_a_job_that_failed(world, browse):
    world.platform.put_products("store-001", [{"sku": "a", "barcodes": [], "title": "A", "price": 9.0, "active": True}])
    for sku in ("a", "b"):
        world.erp.put("store-001", sku, "1.00")
    world.platform.faults({"at": "job", "kind": "failed"})
    world.sync("full")
    text = browse(world.app).get("/").text
    [tile] = re.findall(r'<li class="tile failing">(.*?)</li>', text, re.DOTALL)
    cells = dict(re.findall(r"<dt>([^<]+)</dt><dd>(?:<a [^>]*>)?([^<]+)", tile))
    assert cells == {"ERP rows": "2", "right": "0", "sent, no result yet": "2"}
    assert "The oldest change waits for" in tile
    assert "the platform reported the job as FAILED" in tile
