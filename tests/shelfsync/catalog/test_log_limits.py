"""The log of a job may be as long and as slow as its SKUs need, and no more."""

from __future__ import annotations

from shelfsync.catalog.log_limits import log_bytes_max, log_s_max
from shelfsync.rows.result_limits import EXPANDED_BYTES_MAX


def test_a_log_may_be_as_large_and_as_slow_as_its_skus_need_and_no_more():
    assert log_bytes_max(0, bytes_per_sku=512) == 1024 * 1024
    assert log_bytes_max(10_000, bytes_per_sku=512) == 1024 * 1024 + 5_120_000
    assert log_bytes_max(10**9, bytes_per_sku=512) == EXPANDED_BYTES_MAX
    assert (log_s_max(0), log_s_max(10_000)) == (60, 1060)
