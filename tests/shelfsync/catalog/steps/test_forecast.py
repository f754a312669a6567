"""Before a run sends: how many requests, how many minutes, and whether the next run finds it done."""

from __future__ import annotations

import logging

import pytest

A = {"barcodes": [], "title": "A", "price": 9.99, "active": True}


@pytest.fixture
def make_shop(make_world):
    def make(**sections):
        world = make_world(**sections)
        world.platform.put_products("store-001", [{**A, "sku": sku} for sku in ("a", "b")])
        for sku in ("a", "b"):
            world.erp.put("store-001", sku, "1.00", 10, 1, 5)
        return world

    return make


@pytest.mark.slow
def test_a_run_logs_its_forecast_before_it_sends(make_shop, caplog):
    caplog.set_level(logging.INFO)
    make_shop().sync("full")
    (record,) = [one for one in caplog.records if "all that is planned takes" in one.message]
    assert record.levelno == logging.INFO
    assert "takes 3 requests, 0.0 min" in record.message
    assert record.message.endswith("done before the next run is due")


def test_a_run_that_will_not_be_done_by_the_next_one_warns(make_shop, caplog):
    make_shop(sync={"delta_interval_s": 0.001, "poll_first_s": 0.05, "poll_max_s": 0.2}).sync("full")
    (record,) = [one for one in caplog.records if "all that is planned takes" in one.message]
    assert record.levelno == logging.WARNING
    assert record.message.endswith("NOT done before the next run is due")


def test_a_plan_and_the_status_forecast_it_too(make_shop):
    shop = make_shop(sync={"delta_interval_s": 0.001, "poll_first_s": 0.05, "poll_max_s": 0.2})
    assert any("NOT done before the next run is due" in line for line in shop.sync("full", dry_run=True)["lines"])
    assert shop.app.status()["forecast"]["requests"] == 0
    shop.begin("full", "batch")
    ahead = shop.app.status()["forecast"]
    assert (ahead["requests"], ahead["in_time"]) == (3, False)
