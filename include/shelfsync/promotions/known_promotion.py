"""A promotion that the ledger knows: its state on the platform, its campaigns, and whether two have a vendor in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shelfsync.promotions.head import EVERY

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Mapping


@dataclass(frozen=True)
class KnownPromotion:
    """A promotion that the ledger knows: its state on the platform, as far as it is known."""

    promotion_id: int
    identity: str
    campaign: str
    vendors: tuple[str, ...]
    start_time: dt.datetime
    end_time: dt.datetime
    state: str
    """new: never confirmed; sent: the platform has it, or may have it; failed: the platform rejected it; ended: shelfsync ended it."""
    acknowledged_path: str | None
    wanted_path: str | None
    """Entries of the last plan that was acknowledged whole."""
    header: dict[str, Any]
    busy: bool
    """A request about it is in flight."""
    waits: bool
    """A request about it failed lately: the next attempt waits."""

    @property
    def there(self) -> bool:
        """Whether the platform has it, or may have it."""
        return self.state == "sent"

    @property
    def campaigns(self) -> tuple[str, ...]:
        """All its campaigns: more than one if they are merged."""
        return (self.campaign, *self.header.get("also", ()))


def campaigns_of(header: Mapping[str, Any]) -> set[str]:
    """The campaigns that a header names: more than one if they are merged."""
    return {header["campaign"], *header.get("also", ())} if "campaign" in header else set()


def meet(vendors: Collection[str], others: Collection[str]) -> bool:
    """Whether two promotions have a vendor in common."""
    if EVERY in vendors or EVERY in others:
        return bool(vendors) and bool(others)
    return not set(vendors).isdisjoint(others)
