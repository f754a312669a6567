"""Campaigns that a plan leaves alone, and why: what it does not know, or a person has to decide, must end or change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

from shelfsync.promotions.head import EVERY

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    import pyarrow as pa

    from shelfsync.promotions.known_promotion import KnownPromotion

HEAD = "its head cannot be meant: see warehouse.promotion_quarantine"
NO_VENDOR = "it is for all vendors, and none is known yet: the catalog has to be synced first"


def undecided(
    vendor: str,
    skus: pa.Array,
    promotions: Iterable[KnownPromotion],
    acknowledged: Callable[[KnownPromotion], pa.Array | None],
) -> str | None:
    """If undecided SKUs, as those of a held price, would leave the platform together with the promotion that theirs replaces; None: they do not.

    `promotions`: what the platform has of the campaign. `acknowledged`: the SKUs that it has in one of them; None: that is not known.
    """
    for known in promotions:
        if not {vendor, EVERY} & set(known.vendors):
            continue
        there = acknowledged(known)
        count = 0 if there is None else pc.sum(pc.is_in(skus, value_set=there)).as_py() or 0
        if count:
            return (
                f"{count} SKUs of it at vendor {vendor} are held or quarantined, and its new name or window would end the promotion that"
                " they are in; it stays as it is until that is decided"
            )
    return None


def unread(promotions: Iterable[KnownPromotion], vendors: Mapping[str, str]) -> dict[str, str]:
    """Campaigns of vendors that could not be read: their promotions would seem to have ended, and each that they share, to be without them."""
    found: dict[str, str] = {}
    for known in promotions:
        for vendor, why in vendors.items():
            if known.there and {vendor, EVERY} & set(known.vendors):
                for campaign in known.campaigns:
                    found.setdefault(campaign, f"vendor {vendor} could not be read: {why}")
    return found


def shared_with_others(promotions: Iterable[KnownPromotion], only: Collection[str]) -> dict[str, str]:
    """Campaigns with a promotion that is also for vendors outside `only`."""
    why = "its promotion is also sent for vendors that SHELFSYNC_SYNC__VENDORS leaves out; it stays until they are named there"
    return {
        known.campaign: why
        for known in promotions
        if known.there and set(known.vendors) & {*only, EVERY} and not set(known.vendors) <= set(only)
    }
