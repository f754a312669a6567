from __future__ import annotations

from shelfsync.catalog.rejection_kind import KINDS
from shelfsync.catalog.rejection_retry import FOR_NOW, RetryWaits


def test_the_waits_of_a_rejection_for_now_double_from_a_quarter_of_an_hour_to_a_day():
    assert RetryWaits().every_s() == [900, 1800, 3600, 7200, 14_400, 28_800, 57_600, 86_400]
    assert RetryWaits(10, 15).every_s() == [10, 15]


def test_no_wait_releases_what_the_platform_rejects_for_good():
    assert {kind for kind in KINDS if kind not in FOR_NOW} == {"unknown_sku", "invalid_value"}
