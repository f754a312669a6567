"""The head of a promotion: what all its SKUs share, read from the ERP's texts and checked against the interface (2.4)."""

from __future__ import annotations

import datetime as dt
import zoneinfo
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from shelfsync import display
from shelfsync.promotions.campaign_dates import FaultyError, read_time, shown, stripped
from shelfsync.promotions.promotion_name import UNUSABLE, read_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shelfsync.settings import PromotionSettings

EVERY = "*"
"""The vendor of a row that means all of them."""

TYPES = {"interface": ("STRIKETHROUGH",), "spec": ("STRIKETHROUGH", "SAME_ITEM_BUNDLE")}
REASONS = {
    "interface": ("COMPETITIVENESS",),
    "spec": ("COMPETITIVENESS", "OVERSTOCK", "DELISTING", "EXPIRING_SOON", "NMR", "TRADING"),
}
SUBTYPES = {"interface": ("FINAL_PRICE",), "spec": ("FINAL_PRICE", "PERCENTAGE", "ABSOLUTE")}
"""By `promotions.values`: what interface.md names, and what the published specification adds (field notes)."""


@dataclass(frozen=True)
class Fault:
    """Why a head is faulty: the field, a stable keyword, a sentence. shelfsync sends nothing for its campaign."""

    campaign: str | None
    field: str
    reason: str
    message: str
    resembled: str | None = None
    """The campaign that its id reads as: nothing is sent for it either."""


@dataclass(frozen=True)
class Head:
    """One head, canonical: instants in UTC cut to milliseconds, the name by locale in their order."""

    start: dt.datetime
    end: dt.datetime
    campaign: str
    display_name: tuple[tuple[str, str], ...]
    reason: str
    type: str
    purchased_quantity: int | None
    discounted_quantity: int | None
    max_discount_per_order: Decimal | None
    max_items_per_order: int | None
    may_overlap: bool
    """If this campaign overlaps another, the later start wins."""
    pieces: int | None = None
    """The price is of so many pieces of a SKU together. Until `validate` reads the base prices, the last of them is the discounted one."""

    def __lt__(self, other: Head) -> bool:
        """By start, end, campaign and name; then a count or limit that is not set comes first."""
        return self._order < other._order

    @cached_property
    def _order(self) -> tuple[Any, ...]:
        counts = (self.purchased_quantity, self.discounted_quantity, self.max_items_per_order, self.pieces)
        numbers = [number or 0 for number in (*counts, self.max_discount_per_order)]
        return (
            self.start,
            self.end,
            self.campaign,
            self.display_name,
            self.reason,
            self.type,
            self.may_overlap,
            *numbers,
        )

    @property
    def name(self) -> str:
        """One of the names, for people."""
        return self.display_name[0][1]

    @property
    def offer(self) -> Head:
        """What is sent of it. Campaigns with the same offer can share a promotion."""
        return replace(self, campaign="", may_overlap=False, pieces=None)

    def overlaps(self, other: Head) -> bool:
        """Whether there is an instant at which both run."""
        return self.start < other.end and other.start < self.end

    def as_json(self) -> dict[str, Any]:
        """For the ledger."""
        return {
            "campaign": self.campaign,
            "display_name": dict(self.display_name),
            "reason": self.reason,
            "start_time": instant(self.start),
            "end_time": instant(self.end),
            "type": self.type,
            "purchased_quantity": self.purchased_quantity,
            "discounted_quantity": self.discounted_quantity,
            "max_discount_per_order": None if self.max_discount_per_order is None else f"{self.max_discount_per_order}",
            "max_items_per_order": self.max_items_per_order,
        }


@lru_cache(maxsize=20_000)
def instant(when: dt.datetime) -> str:
    """As the interface writes it: UTC with milliseconds."""
    return when.astimezone(dt.UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


class Heads:
    """All heads of a run, each distinct text read once and numbered; never more than the ERP has campaigns."""

    def __init__(self, settings: PromotionSettings, *, time_zone: str = "UTC", odd_ids: bool = False) -> None:
        """`time_zone`: of times that carry none. `odd_ids`: a campaign's id that is another one only to a machine is no fault."""
        self._settings = settings
        self._zone = zoneinfo.ZoneInfo(time_zone)
        self._odd_ids = odd_ids
        self._by_text: dict[tuple[str | None, ...], int | Fault] = {}
        self._numbers: dict[Head, int] = {}
        self.all: list[Head] = []
        self.moved: dict[str, list[str]] = {}
        """Campaign -> its times that a change of the clock skips or repeats, each as a sentence with the time that is taken."""

    def find(self, texts: Mapping[str, str | None]) -> int | Fault:
        """The number of the head with these texts, or its fault."""
        key = tuple(texts.values())
        if key not in self._by_text:
            self._by_text[key] = self._read(texts)
        return self._by_text[key]

    def _read(self, texts: Mapping[str, str | None]) -> int | Fault:
        campaign = stripped(texts.get("campaign"))
        if campaign is not None and not _is_identifier(campaign):  # never sent, so nothing of it is to be frozen
            message = f"campaign {shown(campaign)} is no identifier"
            return Fault(None, "campaign", "campaign_characters", message)
        if campaign is not None and not self._odd_ids and (odd := _odd(texts["campaign"] or "")) is not None:
            return odd
        moved: list[str] = []
        try:
            head = _head(texts, self._settings, self._zone, moved)
        except FaultyError as fault:
            return Fault(campaign, fault.field, fault.reason, fault.message)
        except Exception as error:  # noqa: BLE001  whatever it is, the other campaigns go on (I10)
            message = f"the head of the campaign cannot be read: {type(error).__name__}"
            return Fault(campaign, "campaign", "campaign_unreadable", message)
        if moved:
            known = self.moved.setdefault(head.campaign, [])
            known += [line for line in moved if line not in known]
        return self.number(head)

    def number(self, head: Head) -> int:
        """The number of this head, new or known."""
        if head not in self._numbers:
            self._numbers[head] = len(self.all)
            self.all.append(head)
        return self._numbers[head]


def _head(
    texts: Mapping[str, str | None], settings: PromotionSettings, zone: zoneinfo.ZoneInfo, moved: list[str]
) -> Head:
    from shelfsync.rows.truth_words import FALSE, TRUE

    campaign = stripped(texts.get("campaign"))
    if campaign is None:
        raise FaultyError("campaign", "campaign_missing", "the row names no campaign")
    counts = [_count(name, texts) for name in ("purchased_quantity", "discounted_quantity")]
    pieces = _count("pieces", texts)
    if pieces is not None and pieces > 1:
        if counts != [None, None]:
            raise FaultyError(
                "pieces", "pieces_and_quantities", "pieces excludes purchased_quantity and discounted_quantity"
            )
        kind, counts = "SAME_ITEM_BUNDLE", [pieces - 1, 1]
    else:
        kind, pieces = _word("type", texts, "STRIKETHROUGH", TYPES[settings.values]), None
    if kind == "SAME_ITEM_BUNDLE" and None in counts:
        raise FaultyError(
            "type", "bundle_without_quantities", "a bundle needs purchased_quantity and discounted_quantity"
        )
    start, end = (read_time(name, texts, settings, zone, moved) for name in ("start_time", "end_time"))
    if start >= end:
        because = f" ({'; '.join(moved)})" if moved else ""
        message = f"it ends at {display.instant(end)}, before its start at {display.instant(start)}{because}"
        raise FaultyError("end_time", "end_before_start", message)
    overlap = (stripped(texts.get("overlap")) or "").lower()
    if overlap not in {*TRUE, *FALSE, ""}:
        raise FaultyError("overlap", "overlap_not_a_truth_value", f"overlap {shown(overlap)} is neither true nor false")
    return Head(
        start=start,
        end=end,
        campaign=campaign,
        display_name=read_name(stripped(texts.get("name")), settings.locale),
        reason=_word("reason", texts, "COMPETITIVENESS", REASONS[settings.values]),
        type=kind,
        purchased_quantity=counts[0],
        discounted_quantity=counts[1],
        max_discount_per_order=_amount("max_discount_per_order", texts),
        max_items_per_order=_count("max_items_per_order", texts),
        may_overlap=overlap in TRUE or settings.overlap == "later_start_wins",
        pieces=pieces,
    )


def _word(field: str, texts: Mapping[str, str | None], default: str, allowed: tuple[str, ...]) -> str:
    text = (stripped(texts.get(field)) or default).upper()
    if text not in allowed:
        raise FaultyError(
            field,
            f"{field}_unknown",
            f"{field} {shown(text)} is none of {', '.join(allowed)} (SHELFSYNC_PROMOTIONS__VALUES)",
        )
    return text


def _count(field: str, texts: Mapping[str, str | None]) -> int | None:
    text = stripped(texts.get(field))
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 12 or not 1 <= int(text) < 2**31:
        raise FaultyError(field, f"{field}_not_a_count", f"{field} {shown(text)} is no whole number above zero")
    return int(text)


def _amount(field: str, texts: Mapping[str, str | None]) -> Decimal | None:
    text = stripped(texts.get(field))
    if text is None:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or not 0 < amount < 10**12:
        raise FaultyError(field, f"{field}_not_an_amount", f"{field} {shown(text)} is no amount above zero")
    return Decimal(int(amount * 1000)) / 1000


def _odd(campaign: str) -> Fault | None:
    """The fault of an id that only looks like another one. It is no new campaign, and the one that it reads as has not ended."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.rows import odd_characters

    ids = pc.utf8_trim(pa.array([campaign], pa.string()), characters=" \t\r\n")
    if not odd_characters.is_odd(ids).any():
        return None
    text, resembled = ids[0].as_py(), odd_characters.reads_as(ids)[0].as_py()
    like = f", and reads as {shown(resembled)}" if resembled else ""
    message = (
        f"campaign {shown(text)} is another id only to a machine{odd_characters.characters_of(ids)[0].as_py()}{like}"
    )
    return Fault(text.strip(), "campaign", "campaign_odd", message, resembled or None)


def _is_identifier(text: str) -> bool:
    return UNUSABLE.search(text) is None and len(text) <= 255
