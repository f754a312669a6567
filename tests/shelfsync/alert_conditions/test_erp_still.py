"""Alert `erp_still`: no reading finds a change of the ERP in opening hours."""

from __future__ import annotations

import dataclasses
import datetime as dt

import pytest

from alert_look import kinds, older, with_alerts
from shelfsync import check


@pytest.mark.slow
def test_an_erp_without_any_change_stands_still_in_opening_hours_alone(world, context):
    older(context, "ledger.extract", "read_at", 50)
    older(context, "ledger.feed", "read_at", 50)
    world.erp.put("store-001", "a", "1.02")
    world.sync("delta")
    older(context, "ledger.feed", "read_at", 50)
    world.sync("delta")
    assert kinds(context) == set(), "no limit is set"
    limited = with_alerts(context, unchanged_minutes=45)
    assert kinds(limited) == {("erp_still", "")}
    now = dt.datetime.now(dt.UTC)
    soon, later = ((now + dt.timedelta(minutes=minutes)).time().replace(second=0) for minutes in (60, 120))
    closed = with_alerts(context, unchanged_minutes=45, open_from=soon, open_to=later)
    assert kinds(closed) == set()
    world.erp.put("store-001", "a", "90.00")
    world.sync("delta")
    assert {kind for kind, _ in kinds(limited)} == {"hold_waits"}, "the ERP has changed, whatever becomes of it"
    older(context, "ledger.feed", "read_at", 50)
    world.sync("delta")
    assert {kind for kind, _ in kinds(limited)} == {"erp_still", "hold_waits"}, "a held change comes with each reading"


def test_check_names_an_erp_whose_standing_still_no_alert_reports(context):
    platform = context.settings.platform.model_copy(update={"base_url": "https://platform.example"})
    elsewhere = dataclasses.replace(context, settings=context.settings.model_copy(update={"platform": platform}))

    def named(context):
        return any("SHELFSYNC_ALERTS__UNCHANGED_MINUTES is not set" in line for line in check.warnings(context))

    assert [named(one) for one in (elsewhere, with_alerts(elsewhere, unchanged_minutes=45), context)] == [
        True,
        False,
        False,
    ]
