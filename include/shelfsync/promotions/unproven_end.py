"""An absent campaign ends only if the extract is proven complete: otherwise its promotions stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.promotions.known_promotion import KnownPromotion, meet

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Iterable


def unproven(
    known: Iterable[KnownPromotion],
    asked: Collection[str],
    held: frozenset[str],
    unoffered: Collection[tuple[str, str]],
    now: dt.datetime,
) -> dict[str, str]:
    """Campaigns with a promotion that would end because it is absent, with the reason why they get no step."""
    return {
        have.campaign: "a promotion of it would end, and the extract is not proven complete; its promotions stay as they are"
        for have in known
        if have.there
        and have.end_time > now
        and have.identity not in asked
        and held.isdisjoint(have.campaigns)
        and not any(campaign == have.campaign and meet(have.vendors, (vendor,)) for campaign, vendor in unoffered)
    }
