"""A promotion that was created in the platform's portal appears on an order and is reported."""

from __future__ import annotations

import pytest

from promotion_bodies import final, promotion_body

HEADER = "campaign,vendor,sku,price,base_price,name,start_time,end_time\n"


@pytest.mark.slow
def test_a_promotion_on_an_order_that_the_erp_does_not_know_is_found_and_ours_is_not(make_world, platform, tmp_path):
    file = tmp_path / "promotions.csv"
    file.write_text(f"{HEADER}ours,store-001,JAM,2.50,3.00,Ours,2020-01-01T00:00:00Z,2099-01-01T00:00:00Z\n", "utf-8")
    world = make_world(promotions={"files": str(file), "poll_first_s": 0.05, "poll_max_s": 0.2})
    platform.control("PUT", "settings", {"promotion_propagation_s": 0.0, "propagation_s": 0.0})
    with platform.partner() as portal:
        body = promotion_body(platform, final(1.0, "MILK"), name="Portal special")
        assert portal.put("/v2/chains/demo-chain/promotion", json=body).status_code == 202
    path = world.app.promotions
    assert path.sync(path.open_run("first"))["pairs"]["accepted"] == 1
    world.place("MILK", "JAM")
    world.receive_events()
    names = world.rows("SELECT name FROM warehouse.order_promotion ORDER BY 1")
    assert [row.name for row in names] == ["Ours", "Portal special"]
    assert path.sync(path.open_run("second"))["findings"] == {"unknown_to_erp": 1}
    found = world.rows("SELECT vendor, sku, message FROM warehouse.promotion_finding")
    assert [(row.vendor, row.sku) for row in found] == [("store-001", "MILK")]
    assert "Portal special" in found[0].message
