"""A promotion that another one replaces ends after that is confirmed. Until then it stays, so that no customer sees the full price in between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from shelfsync.promotions.known_promotion import KnownPromotion, campaigns_of, meet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from shelfsync.promotions.group import Wanted

NOT_CREATED = "its replacement is not created yet; until then it stays as it is"


class Making(Protocol):
    """A request that makes a promotion."""

    @property
    def has_failed(self) -> bool:
        """Rejected, or without a confirmation."""

    @property
    def is_open(self) -> bool:
        """Not confirmed yet. A 202 is a receipt: the job may yet fail, or reject every SKU."""

    @property
    def is_confirmed(self) -> bool:
        """Acknowledged with what the platform reported."""

    @property
    def there(self) -> bool:
        """Whether the platform has the promotion, or may have it."""


def is_made(makings: Collection[Making]) -> bool | None:
    """Whether the platform has all that takes the place of a promotion; None: that is not known yet."""
    if any(making.has_failed for making in makings):
        return False
    if any(making.is_open for making in makings):
        return None
    return all(making.there or not making.is_confirmed for making in makings)


def lacks(known: KnownPromotion, not_created: Mapping[str, Collection[str]]) -> bool:
    """Whether a promotion that takes its place at one of its vendors is not created; `not_created`: vendors by campaign."""
    return any(meet(known.vendors, not_created.get(campaign, ())) for campaign in known.campaigns)


def not_created(asked: Iterable[Wanted], known: Mapping[str, KnownPromotion]) -> dict[str, set[str]]:
    """Vendors, by campaign, of promotions whose creation was tried, and is not tried again in this plan.

    A promotion that the platform may or may not have counts as not created. So does one that it has without this campaign.
    """
    found: dict[str, set[str]] = {}
    for want in asked:
        have = known.get(want.identity)
        if have is not None and (have.busy or have.waits):
            made = campaigns_of(have.header) if have.there and have.wanted_path is not None else set()
            for campaign in set(want.campaigns) - made:
                found.setdefault(campaign, set()).update(want.vendors)
    return found


def takes_place_of(want: Wanted, have: KnownPromotion) -> bool:
    """Whether a promotion can be what a sent one becomes: they have a campaign, a vendor and days in common."""
    return (
        have.start_time < want.head.end
        and want.head.start < have.end_time
        and meet(have.vendors, want.vendors)
        and not set(want.campaigns).isdisjoint(have.campaigns)
    )
