"""A promotion that begins more than some days ahead waits."""

from __future__ import annotations

import datetime as dt

import pytest

DAY = 24
"""Hours."""


@pytest.mark.slow
def test_what_begins_later_than_some_days_ahead_waits_and_what_was_sent_stays(make_shop):
    shop = make_shop(time_zone="Asia/Kathmandu")
    shop.erp.put("near", "a", "8", start=13 * DAY, end=99 * DAY)
    shop.erp.put("far", "b", "8", start=15 * DAY, end=99 * DAY)
    shop.erp.put("far", "c", "8", vendor="store-002", start=30 * DAY, end=99 * DAY)
    sent_from = f"{shop.erp.now + dt.timedelta(days=1, minutes=345):%Y-%m-%d %H:%M} +0545"
    line = (
        "waits: 2 promotions of 1 campaign begin later than 14 days ahead (SHELFSYNC_PROMOTIONS__AHEAD_DAYS);"
        f" the first is sent from {sent_from}"
    )
    for dry_run in (True, False):
        summary = shop.sync(dry_run=dry_run)
        assert (summary["counts"]["created"], summary["counts"]["promotions_waiting"]) == (1, 2)
        assert line in summary["lines"]
    assert [row["display_name"]["en_GB"] for row in shop.portal()] == ["Offer near"]
    assert shop.world.app.promotions.status()["waiting"]["line"] == line
    wide = make_shop(promotions={"ahead_days": 20})
    assert wide.sync()["counts"]["created"] == 1
    shop.erp.put("far", "b", "7", start=15 * DAY, end=99 * DAY)
    assert _sent(shop.sync()) == (0, 1, 0, 1), "it is sent, so its changes are too"
    shop.erp.put("far", "b", "7", start=15 * DAY, end=98 * DAY)
    assert _sent(shop.sync()) == (1, 0, 1, 1)
    assert shop.states() == ["Upcoming", "Cancelled", "Upcoming"]
    shop.erp.put("far", "b", "7", start=50 * DAY, end=98 * DAY)
    shop.sync()
    shop.erp.put("far", "b", "7", start=100 * DAY, end=101 * DAY)
    assert _sent(shop.sync()) == (0, 0, 1, 2), "it left its days, and the new ones are far"
    assert shop.states() == ["Upcoming", "Cancelled", "Cancelled", "Cancelled"]
    assert _sent(shop.sync()) == (0, 0, 0, 2)


def _sent(summary):
    return tuple(summary["counts"][name] for name in ("created", "changed", "ended", "promotions_waiting"))
