from __future__ import annotations


def test_the_page_asks_for_a_sku_and_explains_it(world, browse):
    world.platform.put_products("store-001", [{"sku": "<b>", "barcodes": [], "title": "A", "price": 9, "active": True}])
    world.erp.put("store-001", "<b>", "3.99")
    world.sync("full")
    page = browse(world.house)
    assert 'name="sku"' in page.get("/explain").text
    told = page.get("/explain", params={"vendor": "store-001", "sku": "<b>"}).text
    assert "It shows 3.99 since" in told
    assert "<b>" not in told, "what came from an ERP is text, never markup"
    then = page.get("/explain", params={"vendor": "store-001", "sku": "<b>", "at": "2020-01-01T10:00"}).text
    assert "No extract had this vendor by then" in then


def test_a_vendor_or_an_instant_that_is_none_is_told_on_the_page(world, browse):
    page = browse(world.house)
    assert "was in no extract so far" in page.get("/explain", params={"vendor": "x", "sku": "y"}).text
    assert "is no instant" in page.get("/explain", params={"vendor": "x", "sku": "y", "at": "noon"}).text


def test_the_page_says_that_a_picture_does_not_have_a_sku_and_that_what_was_acknowledged_is_in_doubt(
    make_world, browse
):
    world = make_world(drift={"propagation_s": 0})
    rows = [{"sku": sku, "barcodes": [], "title": sku, "price": 9, "active": True} for sku in "ab"]
    world.platform.put_products("store-001", rows)
    for sku in "ab":
        world.erp.put("store-001", sku, "3.99")
    world.sync("full")
    world.house.export("test/1", (), tell=lambda *_: None)
    world.platform.put_products("store-001", rows[1:])
    world.house.export("test/2", (), tell=lambda *_: None)
    told = browse(world.house).get("/explain", params={"vendor": "store-001", "sku": "a"}).text
    assert "<dt>observed</dt><dd>not shown at all" in told
    assert "<dt>acknowledged</dt><dd>unknown: picture 2 of the platform did not bear it out" in told
