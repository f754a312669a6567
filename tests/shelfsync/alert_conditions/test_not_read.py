"""Alert `not_read`: the ERP was not read for a long time."""

from __future__ import annotations

from alert_look import kinds, older


def test_no_reading_for_long_is_an_alert_whatever_the_cause(context):
    older(context, "ledger.extract", "read_at", 61)
    assert ("not_read", "") in kinds(context)
