"""The name of a promotion as the ERP gives it. Of two with one name, vendors and period, the second is shown as `Spring (2)` while it runs."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from shelfsync.promotions.campaign_dates import FaultyError, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    Name = tuple[tuple[str, str], ...]

_NUMBER = re.compile(r" \((\d{1,6})\)$")
_LOCALE = re.compile(r"[a-z]{2}_[A-Z]{2}")
UNUSABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ufffd\ud800-\udfff]")
"""Control characters, and damaged text: an unknown character, or half of one (JSON can escape a half alone)."""
_LENGTH_MAX = 1000


class Headed(Protocol):
    """What of a head a name needs (`head.Head`)."""

    @property
    def campaign(self) -> str: ...

    def as_json(self) -> dict[str, object]: ...


class Offered(Protocol):
    """A promotion that the ERP wants."""

    @property
    def head(self) -> Headed: ...

    @property
    def campaigns(self) -> Collection[str]:
        """Further campaigns with the same offer."""


@dataclass(frozen=True)
class Named:
    """A promotion that the platform has: its vendors, campaigns and header. Its name stays while its campaign wants it."""

    vendors: tuple[str, ...]
    campaigns: tuple[str, ...]
    header: Mapping[str, object]


def read_name(raw: str | None, locale: str) -> tuple[tuple[str, str], ...]:
    """A JSON map from locale to text, or a text in the locale of the settings."""
    if raw is None:
        raise FaultyError("name", "name_missing", "the promotion has no name, and its name is part of its identity")
    names: Any = {locale: raw}
    if raw.startswith("{"):
        try:
            names = json.loads(raw)
        except (ValueError, RecursionError):
            raise FaultyError(
                "name", "name_not_a_map", f"name {shown(raw)} looks like a map of locales and is not valid JSON"
            ) from None
    for place, text in names.items():
        if _LOCALE.fullmatch(place) is None:
            raise FaultyError("name", "name_locale", f"{shown(place)} is no locale of the form xx_YY")
        if not isinstance(text, str) or not text.strip() or len(text) > _LENGTH_MAX or UNUSABLE.search(text):
            raise FaultyError(
                "name", "name_text", f"the name in {place} is empty, too long, damaged, or has a control character"
            )
    if not names:
        raise FaultyError("name", "name_missing", "the promotion has no name in any locale")
    return tuple(sorted((place, text.strip()) for place, text in names.items()))


def derived_name(display_name: Name, number: int) -> Name:
    """The name of the promotion of that number (from 1) among those with the same name, vendors and period."""
    return tuple((place, text if number == 1 else f"{text} ({number})") for place, text in display_name)


def derived_from(header: Mapping[str, object]) -> list[tuple[Name, int]]:
    """The names from which the name of this header may be derived, each with the number: its own name with 1, and perhaps one without its end."""
    shown = header["display_name"]
    if not isinstance(shown, dict) or not shown:
        return []
    name = tuple(sorted(shown.items()))
    found = _NUMBER.search(name[0][1])
    if found is None:
        return [(name, 1)]
    plain = tuple((place, text.removesuffix(found[0])) for place, text in name)
    number = int(found[1])
    return [(name, 1), (plain, number)] if number > 1 and derived_name(plain, number) == name else [(name, 1)]


def numbered(known: Iterable[Named]) -> dict[tuple[object, ...], dict[int, Named]]:
    """What the platform has, by the name, vendors, start and end that it may have with others, and by its number among them."""
    found: dict[tuple[object, ...], dict[int, Named]] = {}
    for one in known:
        for name, number in derived_from(one.header):
            place = (name, one.vendors, one.header["start_time"], one.header["end_time"])
            found.setdefault(place, {})[number] = one
    return found


def numbers(groups: Sequence[Offered], known: Mapping[int, Named]) -> list[int]:
    """The number of each one's name. A promotion that the platform has (`known`) keeps its name, the best fit first; others take the next free one."""
    numbers: list[int | None] = [None] * len(groups)
    taken: set[int] = set()
    for fits in (_same_campaign_and_offer, _same_offer, _same_campaign):
        for place, group in enumerate(groups):
            for number, one in known.items():
                if numbers[place] is None and number not in taken and fits(group, one):
                    numbers[place] = number
                    taken.add(number)
    for place, found in enumerate(numbers):
        if found is None:
            numbers[place] = next(free for free in itertools.count(1) if free not in taken)
            taken.add(numbers[place] or 0)
    return [number or 1 for number in numbers]


def _same_campaign_and_offer(group: Offered, one: Named) -> bool:
    return _same_campaign(group, one) and _same_offer(group, one)


def _same_campaign(group: Offered, one: Named) -> bool:
    return not {group.head.campaign, *group.campaigns}.isdisjoint(one.campaigns)


def _same_offer(group: Offered, one: Named) -> bool:
    return sent_of(one.header) == sent_of(group.head.as_json())


def sent_of(header: Mapping[str, object]) -> dict[str, object]:
    """What is sent of a header, but for its name."""
    return {name: value for name, value in header.items() if name not in {"campaign", "also", "display_name"}}
