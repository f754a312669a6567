"""later: what a run reports about promotions that begin too far ahead to be sent now."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shelfsync.promotions.group import Wanted


def waiting(later: Sequence[Wanted], *, days: float, zone: dt.tzinfo) -> dict[str, Any] | None:
    """`{"promotions", "campaigns", "days", "sent_from", "line"}` for the report of a run; None: no promotion waits."""
    if not later:
        return None
    campaigns = len({campaign for want in later for campaign in want.campaigns})
    sent_from = min(want.head.start for want in later) - dt.timedelta(days=days)
    promotions = len(later)
    line = (
        f"waits: {promotions:,} promotion{'s' * (promotions > 1)} of {campaigns:,} campaign{'s' * (campaigns > 1)}"
        f" begin{'s' * (promotions == 1)} later than {days:g} days ahead (SHELFSYNC_PROMOTIONS__AHEAD_DAYS);"
        f" the first is sent from {sent_from.astimezone(zone):%Y-%m-%d %H:%M} {zone}"
    )
    return {
        "promotions": promotions,
        "campaigns": campaigns,
        "days": days,
        "sent_from": sent_from.isoformat(),
        "line": line,
    }
