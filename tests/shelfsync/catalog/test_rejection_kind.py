from __future__ import annotations

import pytest

from shelfsync.catalog.rejection_kind import kind_of


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
