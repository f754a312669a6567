"""Promotions that replaced another: the acknowledged state belongs to the promotion on the platform, never to the one that it replaced."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow

HEADER = "campaign,vendor,sku,price,name,start_time,end_time\n"
WINDOW = "2020-01-01T00:00:00Z,2099-01-01T00:00:00Z"


def test_a_garbled_row_takes_nothing_out_of_a_promotion_that_took_anothers_place(shop):
    for vendor in ("store-001", "store-002"):
        shop.erp.put("c1", "a", "8", vendor=vendor)
        shop.erp.put("c1", "b", "8", vendor=vendor)
    shop.sync()
    shop.erp.put("c1", "a", "7", vendor="store-001")
    shop.sync()
    assert shop.states() == ["Cancelled", "Running", "Running"], "the vendors' prices differ, so they share no longer"
    shop.erp.put("c1", "a", "7,50", vendor="store-001")
    shop.sync()
    assert (shop.seen("store-001"), shop.seen("store-002")) == ({"a": 7.0, "b": 8.0}, {"a": 8.0, "b": 8.0})


def test_absence_without_proof_takes_nothing_out_of_a_promotion_that_took_anothers_place(make_shop, tmp_path):
    file, control = tmp_path / "promotions.csv", tmp_path / "rows.txt"

    def write(rows):
        lines = [f"c1,{vendor},{sku},{price},Offer,{WINDOW}\n" for vendor, sku, price in rows]
        file.write_text(HEADER + "".join(lines), "utf-8")
        control.write_text(f"{len(rows)}\n", "utf-8")

    others = [("store-001", "b", 8), ("store-002", "a", 8), ("store-002", "b", 8)]
    write([("store-001", "a", 8), *others])
    proven = make_shop(promotions={"sql": None, "files": str(file), "control_file": str(control)})
    proven.sync()
    write([("store-001", "a", 7), *others])
    proven.sync()
    assert proven.states() == ["Cancelled", "Running", "Running"]
    doubted = make_shop(promotions={"sql": None, "files": str(file)})
    write(others)
    doubted.sync()
    assert (proven.seen("store-001"), proven.seen("store-002")) == ({"a": 7.0, "b": 8.0}, {"a": 8.0, "b": 8.0})


def test_a_garbled_row_of_another_name_keeps_the_running_promotion_though_that_name_was_there_before(shop):
    shop.erp.put("c1", "a", "8", name="First")
    shop.sync()
    shop.erp.put("c1", "a", "8", name="Second")
    shop.sync()
    assert shop.states() == ["Cancelled", "Running"]
    shop.erp.put("c1", "a", "8,50", name="First")
    shop.sync()
    assert (shop.seen(), shop.states()) == ({"a": 8.0}, ["Cancelled", "Running"])
