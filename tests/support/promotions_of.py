"""A wanted promotion, and one that the platform has, from a few values: days are those of March 2026."""

from __future__ import annotations

import datetime as dt
from typing import Any

from shelfsync.promotions.group import Wanted
from shelfsync.promotions.head import Head
from shelfsync.promotions.identity import identity
from shelfsync.promotions.known_promotion import KnownPromotion


def day(number: int) -> dt.datetime:
    """The begin of this day."""
    return dt.datetime(2026, 3, number, tzinfo=dt.UTC)


def head(
    campaign: str = "c1", name: str = "Spring", *, days: tuple[int, int] = (2, 9), items: int | None = None
) -> Head:
    """`items`: at most so many an order."""
    name_of = (("en_GB", name),)
    return Head(
        day(days[0]),
        day(days[1]),
        campaign,
        name_of,
        "COMPETITIVENESS",
        "STRIKETHROUGH",
        None,
        None,
        None,
        items,
        False,
    )


def wanted(*vendors: str, also: tuple[str, ...] = (), **of_head: Any) -> Wanted:
    """A promotion that the ERP wants."""
    one = head(**of_head)
    return Wanted(identity(one, vendors), one, vendors, "entries", 1, also)


def known(
    *vendors: str, also: tuple[str, ...] = (), state: str = "sent", busy: bool = False, **of_head: Any
) -> KnownPromotion:
    """The same as the ledger knows it."""
    one = wanted(*vendors, also=also, **of_head)
    begin, end = one.head.start, one.head.end
    return KnownPromotion(
        1, one.identity, one.head.campaign, vendors, begin, end, state, "sent", "wanted", one.header, busy, False
    )
