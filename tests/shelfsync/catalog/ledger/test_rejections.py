from __future__ import annotations

from decimal import Decimal

import pytest
import sqlalchemy as sa

from shelfsync.catalog.ledger import rejections
from shelfsync.catalog.ledger.rejections import rejection

WANTED = {
    "barcode": "4006381333931",
    "price": Decimal("1.500"),
    "quantity": 3,
    "active": True,
    "max_sales_quantity": None,
}


def _remember(ledger, job_id, skus):
    with ledger.engine.begin() as connection:
        rejections.remember(
            connection, ledger.vendor, job_id, [{**WANTED, "sku": sku, "reason": "unknown SKU"} for sku in skus]
        )


def test_a_rejection_has_the_rejected_values_and_ends_when_the_sku_is_accepted(ledger):
    job_id = ledger.job(ledger.batch(*ledger.run())[0])
    _remember(ledger, job_id, ["a", "b"])
    with ledger.engine.begin() as connection:
        assert rejections.of_vendor(connection, ledger.vendor) == [{**WANTED, "sku": "a"}, {**WANTED, "sku": "b"}]
        rejections.release(connection, ledger.vendor, ["a", "never seen"])
        assert [row["sku"] for row in rejections.of_vendor(connection, ledger.vendor)] == ["b"]


def test_the_same_job_counts_once_however_often_it_is_recorded(ledger):
    job_id = ledger.job(ledger.batch(*ledger.run())[0])
    _remember(ledger, job_id, ["a"])
    _remember(ledger, job_id, ["a"])
    with ledger.engine.connect() as connection:
        assert connection.execute(rejection.select()).one().times == 1


def test_a_rejection_that_is_recorded_leaves_the_waits_of_the_others_of_its_job(ledger):
    """An export that finds drift records it with the vendor's newest job."""
    job_id = ledger.job(ledger.batch(*ledger.run())[0])
    _remember(ledger, job_id, ["a", "b"])
    with ledger.engine.begin() as connection:
        rejections.let_go(connection, ledger.vendor, ["a"], "a person")
        before = dict(connection.execute(sa.select(rejection.c.sku, rejection.c.next_try_at)).all())
    with ledger.engine.begin() as connection:
        drifted = {**WANTED, "sku": "c", "reason": "drift returned", "kind": "drifted"}
        rejections.remember(connection, ledger.vendor, job_id, [drifted])
        after = dict(connection.execute(sa.select(rejection.c.sku, rejection.c.next_try_at)).all())
        assert after == {**before, "c": None}
        assert [row["sku"] for row in rejections.of_vendor(connection, ledger.vendor)] == ["b", "c"]


@pytest.mark.slow
def test_tens_of_thousands_of_rejections_fit(ledger):
    job_id = ledger.job(ledger.batch(*ledger.run())[0])
    _remember(ledger, job_id, [f"sku-{number:06}" for number in range(20_000)])
    with ledger.engine.begin() as connection:
        assert len(rejections.of_vendor(connection, ledger.vendor)) == 20_000
        rejections.release(connection, ledger.vendor, [f"sku-{number:06}" for number in range(20_000)])
        assert rejections.of_vendor(connection, ledger.vendor) == []


@pytest.mark.slow
def test_a_listing_releases_tens_of_thousands_of_skus_and_none_that_another_job_has_rejected_since(ledger):
    job_id = ledger.job(ledger.batch(*ledger.run())[0])
    skus = [f"sku-{number:06}" for number in range(40_000)]
    rows = [{**WANTED, "sku": sku, "reason": "unknown SKU", "kind": "unknown_sku"} for sku in skus]
    with ledger.engine.begin() as connection:
        rejections.remember(connection, ledger.vendor, job_id, rows)
    with ledger.engine.begin() as connection:
        jobs = {**dict.fromkeys(skus, job_id), skus[0]: job_id - 1}
        assert rejections.let_go_unchanged(connection, ledger.vendor, jobs, "listing") == 39_999
        assert rejections.let_go_unchanged(connection, ledger.vendor, jobs, "listing") == 0
