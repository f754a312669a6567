from __future__ import annotations

from decimal import Decimal

import pytest

from shelfsync.catalog.ledger import rejections
from shelfsync.catalog.ledger.rejections import kind_of, rejection

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


def test_tens_of_thousands_of_rejections_fit(ledger):
    job_id = ledger.job(ledger.batch(*ledger.run())[0])
    _remember(ledger, job_id, [f"sku-{number:06}" for number in range(20_000)])
    with ledger.engine.begin() as connection:
        assert len(rejections.of_vendor(connection, ledger.vendor)) == 20_000
        rejections.release(connection, ledger.vendor, [f"sku-{number:06}" for number in range(20_000)])
        assert rejections.of_vendor(connection, ledger.vendor) == []


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("product not found in the catalog of the vendor", "unknown_sku"),
        ("Unknown SKU", "unknown_sku"),
        ("the SKU does not exist", "unknown_sku"),
        ("price must be positive", "invalid_value"),
        ("Invalid barcode", "invalid_value"),
        ("maximum_sales_quantity: value out of range", "invalid_value"),
        ("Internal error, please try again", "for_now"),
        ("product temporarily locked", "for_now"),
        ("Timeout while looking the product up: not found in time", "for_now"),
        ("Unknown error", "for_now"),
        ("An unknown error occurred", "for_now"),
        ("unknown exception while updating the product", "for_now"),
        ("Service unavailable", "for_now"),
        ("Internal Server Error", "for_now"),
        ("Product unavailable in catalog", "unknown_sku"),
        ("the item is not available in the catalog", "unknown_sku"),
        ("Product unavailable", "unclear"),  # the product, or the service that knows it
        ("Conflicting barcode", "unclear"),  # of the value, or of two writers
        ("conflict", "unclear"),
        ("Internal reference missing", "invalid_value"),
        ("E4711", "unclear"),
        ("entry 5", "unclear"),  # it has `retry` in it, and means nothing of the kind
        ("", "unclear"),
        (None, "unclear"),
    ],
)
def test_a_reason_is_for_good_only_by_its_words(reason, kind):
    assert kind_of(reason) == kind


def test_words_of_this_platform_go_before_our_own():
    assert kind_of("Artikel fehlt, not found", {"for_now": ("artikel FEHLT",)}) == "for_now"


def test_a_request_that_was_rejected_whole_decides_what_its_unknown_words_mean():
    assert kind_of("E4711", otherwise="invalid_value") == "invalid_value"
