"""A promotion that begins more than SHELFSYNC_PROMOTIONS__AHEAD_DAYS ahead waits, unless it takes the place of a sent one."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from shelfsync import display
from shelfsync.promotions.replacement import takes_place_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from shelfsync.promotions.group import Wanted
    from shelfsync.promotions.known_promotion import KnownPromotion


def waits(
    want: Wanted, leaving: Mapping[str, list[KnownPromotion]], now: dt.datetime, ahead: dt.timedelta | None
) -> bool:
    """Whether it begins too far ahead to be created now. None: no promotion does."""
    return ahead is not None and want.head.start - now > ahead and not _takes_a_place(want, leaving)


def leaving(
    known: Iterable[KnownPromotion], asked: Collection[str], now: dt.datetime
) -> Mapping[str, list[KnownPromotion]]:
    """By campaign: what the platform has of it, and the ERP no longer wants as it is."""
    found: dict[str, list[KnownPromotion]] = {}
    for have in known:
        if have.there and have.end_time > now and have.identity not in asked:
            for campaign in have.campaigns:
                found.setdefault(campaign, []).append(have)
    return found


def _takes_a_place(want: Wanted, leaving: Mapping[str, list[KnownPromotion]]) -> bool:
    """Whether it is what a sent promotion becomes."""
    return any(takes_place_of(want, have) for campaign in want.campaigns for have in leaving.get(campaign, ()))


def waiting(later: Sequence[Wanted], *, days: float) -> dict[str, Any] | None:
    """`{"promotions", "campaigns", "days", "sent_from", "line"}` for the report of a run; None: no promotion waits."""
    if not later:
        return None
    campaigns = len({campaign for want in later for campaign in want.campaigns})
    sent_from = min(want.head.start for want in later) - dt.timedelta(days=days)
    promotions = len(later)
    line = (
        f"waits: {promotions:,} promotion{'s' * (promotions > 1)} of {campaigns:,} campaign{'s' * (campaigns > 1)}"
        f" begin{'s' * (promotions == 1)} later than {days:g} days ahead (SHELFSYNC_PROMOTIONS__AHEAD_DAYS);"
        f" the first is sent from {display.minute(sent_from)}"
    )
    return {
        "promotions": promotions,
        "campaigns": campaigns,
        "days": days,
        "sent_from": sent_from.isoformat(),
        "line": line,
    }
