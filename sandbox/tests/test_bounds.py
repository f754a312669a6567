"""What the sandbox keeps is bounded by number: ended jobs, ended deliveries, changes that customers see already (the soak: benchmarks/sandbox.py)."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import func, select

from benchmarks.sandbox import run
from partner_sandbox import jobs, webhooks
from partner_sandbox.catalog.listing import export_row
from partner_sandbox.catalog.products import visible_change
from partner_sandbox.promotions.store import promotion_sku
from partner_sandbox.server import create_app
from partner_sandbox.settings import SandboxSettings
from promotion_bodies import final, promotion_body

CATALOG = "/v2/chains/demo-chain/vendors/store-001/catalog"


@pytest.fixture
def connection():
    sandbox = create_app(SandboxSettings(clock="virtual")).state.sandbox
    with sandbox.storage.begin() as opened:
        yield opened
    sandbox.close()


@pytest.mark.slow
def test_ended_jobs_far_behind_are_forgotten_with_their_items_and_open_ones_stay(connection):
    row = {
        "chain": "c",
        "kind": "update",
        "created_us": 0,
        "finish_us": 0,
        "address": "",
        "announced": False,
        "items": 1,
    }
    count = jobs.JOBS_MAX + 3_000
    made = [{**row, "seq": n, "job_id": str(n), "state": "COMPLETED", "rejected": 0} for n in range(1, count + 1)]
    made[0]["state"] = "IN_PROGRESS"
    connection.execute(jobs.job.insert(), made)
    connection.execute(jobs.job_item.insert(), [{"job_seq": n, "number": 0} for n in range(1, count + 1)])
    jobs.forget_old(connection, count - 1)
    assert connection.execute(select(func.count()).select_from(jobs.job)).scalar_one() == count
    jobs.forget_old(connection, count)
    kept = list(connection.execute(select(jobs.job.c.seq).order_by(jobs.job.c.seq)).scalars())
    assert kept == [1, *range(3_001, count + 1)]
    items = connection.execute(select(jobs.job_item.c.job_seq).order_by(jobs.job_item.c.job_seq)).scalars()
    assert list(items) == kept


def test_ended_deliveries_far_behind_are_forgotten_with_their_attempts_and_pending_ones_stay(connection):
    row = {
        "chain": "c",
        "operation": "job_webhook",
        "subject": "s",
        "event": "e",
        "url": "u",
        "body": "{}",
        "created_us": 0,
    }
    count = webhooks.DELIVERIES_MAX + 2_000
    made = [{**row, "id": n, "state": "delivered", "attempts": 1} for n in range(1, count + 1)]
    made[0]["state"] = "pending"
    connection.execute(webhooks.delivery.insert(), made)
    connection.execute(
        webhooks.attempt.insert(), [{"delivery_id": n, "number": 1, "at_us": 0} for n in range(1, count + 1)]
    )
    webhooks.forget_old(connection, count)
    kept = list(connection.execute(select(webhooks.delivery.c.id).order_by(webhooks.delivery.c.id)).scalars())
    assert kept == [1, *range(2_001, count + 1)]
    assert connection.execute(select(func.count()).select_from(webhooks.attempt)).scalar_one() == len(kept)


def test_changes_of_a_vendor_that_nothing_reads_do_not_pile_up(platform, partner):
    platform.put_products("store-001", [{"sku": "A", "price": 1}])
    for price in range(2, 8):
        partner.put(CATALOG, json={"products": [{"sku": "A", "price": price}, {"sku": "B"}]})
        platform.advance(600)
    with platform.storage.begin() as opened:
        assert opened.execute(select(func.count()).select_from(visible_change)).scalar_one() <= 2


def test_discounts_that_no_customer_sees_any_more_do_not_pile_up(platform, partner):
    platform.put_products("store-001", [{"sku": "A", "price": 9}])
    platform.control("PUT", "settings", {"promotion_propagation_s": 60.0})
    body = promotion_body(platform, final(8, "A"))
    for price in range(1, 8):
        body["discount"][0]["discount_value"] = price
        assert partner.put("/v2/chains/demo-chain/promotion", json=body).status_code == 202
        platform.advance(120)
    shown = platform.control("GET", "chains/demo-chain/promotions")["promotions"]
    assert [row["pairs"] for row in shown] == [1]
    with platform.storage.begin() as opened:
        assert opened.execute(select(func.count()).select_from(promotion_sku)).scalar_one() <= 2


def test_the_rows_of_an_export_go_with_its_job(platform, partner):
    platform.put_products("store-001", [{"sku": "A", "price": 1}, {"sku": "B", "price": 1}])
    for forgotten in (True, False):
        job_id = partner.post(f"{CATALOG}/export").json()["job_id"]
        platform.advance(60)
        with platform.storage.begin() as opened:
            seq = opened.execute(select(jobs.job.c.seq).where(jobs.job.c.job_id == str(job_id))).scalar_one()
            if forgotten:
                jobs.forget(opened, seq)
    with platform.storage.begin() as opened:
        assert set(opened.execute(select(export_row.c.job_seq)).scalars()) == {seq}


@pytest.mark.slow
@pytest.mark.proof
def test_a_short_soak_holds_no_more_at_its_end():
    found = asyncio.run(run(minutes=4, rate=300, wall_s=60))
    assert (found["requests"] >= 1_200, found["grew"]) == (True, {})
    assert found["statuses"].get(500) is None
