"""plan: what the platform should hold against what it was told, promotion by promotion.

Identity is display name, vendors, start and end: when one of these changes, the old promotion ends and another is made. Ends of what the
ERP dropped come first, then changes, then new ones, and last the ends of those that another one replaces, so that no customer sees the
full price between the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from shelfsync.promotions.shape import EVERY

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Iterable, Mapping

    from shelfsync.promotions.group import Wanted

Action = Literal["create", "change", "end"]
UNMADE = "what takes its place is not made yet; it stays as it was told until that is"


@dataclass(frozen=True)
class Told:
    """A promotion that the ledger knows: what it is on the platform as far as we know."""

    promotion_id: int
    identity: str
    campaign: str
    vendors: tuple[str, ...]
    start: dt.datetime
    end: dt.datetime
    state: str
    """new: never confirmed; told: the platform has it, or may; failed: it refused to make it; ended: we ended it."""
    told_path: str | None
    wanted_path: str | None
    """Entries of the last plan that was acknowledged whole."""
    header: dict[str, object]
    busy: bool
    """A request about it is on its way."""
    waits: bool
    """The platform failed it lately: not yet again."""

    @property
    def there(self) -> bool:
        return self.state == "told"


@dataclass(frozen=True)
class Step:
    """One thing to do about one promotion; `change` may turn out to be nothing once the entries are compared."""

    action: Action
    wanted: Wanted | None
    told: Told | None
    replaced: bool = False
    """An end because another promotion of the campaign takes its place."""

    @property
    def campaign(self) -> str:
        if self.wanted is not None:
            return self.wanted.head.campaign
        assert self.told is not None
        return self.told.campaign


@dataclass(frozen=True)
class Planned:
    """The steps in the order in which they are to be sent; what is passed over and why, by campaign; ends that absence alone asks for."""

    steps: list[Step]
    passed_over: dict[str, str]
    absent: list[Told]


def plan(
    wanted: Iterable[Wanted],
    told: Iterable[Told],
    *,
    now: dt.datetime,
    frozen: Iterable[str] = (),
    absence_believed: bool = True,
) -> Planned:
    """`frozen` campaigns are left alone. `absence_believed`: the extract is proven whole, so what is not in it is not in the ERP.

    Where it is not, a campaign of which a promotion would end is left alone as a whole: whether a window, a vendor or the campaign itself
    has left the ERP or the file, nobody can tell.
    """
    held = frozenset(frozen)
    known = {one.identity: one for one in told}
    asked = {one.identity: one for one in wanted if one.head.end > now}
    passed_over = {} if absence_believed else _unproven(known.values(), asked, held, now)
    held |= frozenset(passed_over)
    first, changes, creates, last = list[Step](), list[Step](), list[Step](), list[Step]()
    campaigns = {one.head.campaign for one in asked.values()}
    for identity, want in asked.items():
        have = known.get(identity)
        if want.head.campaign in held:
            continue
        if have is not None and (have.busy or have.waits):
            passed_over[want.head.campaign] = _why_not_now(have)
        elif have is None or not have.there:
            creates.append(Step("create", want, have))
        else:
            changes.append(Step("change", want, have))
    absent = []
    unmade = _unmade(asked.values(), known)
    for identity, have in known.items():
        if identity in asked or have.campaign in held or not have.there or have.end <= now:
            continue
        if have.busy or have.waits:
            passed_over[have.campaign] = _why_not_now(have)
        elif meet(have.vendors, unmade.get(have.campaign, ())):
            passed_over[have.campaign] = UNMADE
        elif have.campaign in campaigns:
            last.append(Step("end", None, have, replaced=True))
        else:
            absent.append(have)
            first.append(Step("end", None, have))
    return Planned([*first, *changes, *creates, *last], passed_over, absent)


def meet(vendors: Collection[str], others: Collection[str]) -> bool:
    """Whether two promotions have a vendor in common."""
    if EVERY in vendors or EVERY in others:
        return bool(vendors) and bool(others)
    return not set(vendors).isdisjoint(others)


def _unmade(asked: Iterable[Wanted], known: Mapping[str, Told]) -> dict[str, set[str]]:
    """Vendors, by campaign, of promotions that were tried to be made and are not to be tried in this plan.

    One of which nobody knows whether the platform has it counts as not made.
    """
    found: dict[str, set[str]] = {}
    for want in asked:
        have = known.get(want.identity)
        if have is not None and (have.busy or have.waits) and not (have.there and have.wanted_path is not None):
            found.setdefault(want.head.campaign, set()).update(want.vendors)
    return found


def _unproven(known: Iterable[Told], asked: Collection[str], held: Collection[str], now: dt.datetime) -> dict[str, str]:
    """Campaigns of which a promotion would end because it is absent, with why they are left alone."""
    return {
        have.campaign: "a promotion of it would end, and the extract is not proven to be whole; it stays as it was told"
        for have in known
        if have.there and have.end > now and have.identity not in asked and have.campaign not in held
    }


def _why_not_now(have: Told) -> str:
    """Why nothing is planned about a promotion for now."""
    return "a request about it is on its way" if have.busy else "the platform failed it lately; it is tried again later"
