"""What a person reads first, from the ledger of a chain that has synced."""

from __future__ import annotations

from shelfsync.catalog.steps.overview import overview


def test_it_tells_what_the_platform_accepted_and_rejected_and_how_each_store_is(make_world):
    world = make_world()
    world.platform.put_products("store-001", [{"sku": "a", "barcodes": [], "title": "a", "price": 9.0, "active": True}])
    for sku in ("a", "unknown"):
        world.erp.put("store-001", sku, "1.00")
    assert overview(world.app.context)["sentence"] == "No store is known yet: the first full sync reads them."

    world.sync("full")

    found = overview(world.app.context)
    assert found["acceptance"] == {"sent": 2, "accepted": 1, "rejected": 1, "unaccounted": 0}
    assert found["holds_waiting"] == 0
    assert [(row["vendor"], row["condition"], row["shows_the_erp"]) for row in found["vendors"]] == [
        ("store-001", "right", True)
    ]
    assert found["sentence"].startswith(
        "1 of 1 stores show what the ERP says except 1 product that the platform rejects"
    )
