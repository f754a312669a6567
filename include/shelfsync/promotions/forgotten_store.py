"""Campaigns of a forgotten store end, also if the extract is not proven complete: a person has said so, not the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from shelfsync.promotions.group import Wanted
    from shelfsync.promotions.known_promotion import KnownPromotion


def unoffered(
    wanted: Iterable[Wanted], promotions: Iterable[KnownPromotion], forgotten: Collection[str]
) -> set[tuple[str, str]]:
    """(campaign, vendor) of forgotten vendors whose promotion ends.

    One that is shared with other vendors ends only if the extract has its campaign for each of them.
    """
    offered = {(campaign, vendor) for one in wanted for campaign in one.campaigns for vendor in one.vendors}
    found: set[tuple[str, str]] = set()
    for known in promotions:
        gone, rest = set(known.vendors) & set(forgotten), set(known.vendors) - set(forgotten)
        if gone and all((known.campaign, vendor) in offered for vendor in rest):
            found |= {(known.campaign, vendor) for vendor in gone}
    return found
