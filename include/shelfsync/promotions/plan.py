"""plan: the wanted promotions against those that the ledger knows.

Identity is display name, vendors, start and end: when one of these changes, the old promotion ends and another is created. First come
the ends of what the ERP dropped, then changes, then new promotions. The ends of replaced promotions come last, so that no customer
sees the full price in between. A promotion that begins later than so many days ahead is created later.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from shelfsync.promotions.ahead_days import leaving, waits
from shelfsync.promotions.replacement import NOT_CREATED, lacks, not_created, takes_place_of
from shelfsync.promotions.unproven_end import unproven

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Iterable, Mapping

    from shelfsync.promotions.group import Wanted
    from shelfsync.promotions.known_promotion import KnownPromotion

Action = Literal["create", "change", "end"]
FAILED_LATELY = "a request about it failed lately; shelfsync tries again later"


@dataclass(frozen=True)
class Step:
    """One action on one promotion; a `change` may be empty once the entries are compared."""

    action: Action
    wanted: Wanted | None
    known: KnownPromotion | None
    replaced: bool = False
    """An end because another promotion of the campaign, at a vendor and on days of this one, replaces it."""

    @property
    def campaign(self) -> str:
        if self.wanted is not None:
            return self.wanted.head.campaign
        assert self.known is not None
        return self.known.campaign

    @property
    def campaigns(self) -> tuple[str, ...]:
        """All campaigns of its promotion."""
        if self.wanted is not None:
            return self.wanted.campaigns
        assert self.known is not None
        return self.known.campaigns


@dataclass(frozen=True)
class Planned:
    """The steps in the order of sending; campaigns without a step, with the reason; ends because the ERP no longer has the promotion."""

    steps: list[Step]
    passed_over: dict[str, str]
    absent: list[KnownPromotion]
    later: list[Wanted] = field(default_factory=list)
    """Promotions that begin too far ahead to be created now."""


def plan(
    wanted: Iterable[Wanted],
    promotions: Iterable[KnownPromotion],
    *,
    now: dt.datetime,
    frozen: Iterable[str] = (),
    absence_believed: bool = True,
    unoffered: Collection[tuple[str, str]] = (),
    ahead: dt.timedelta | None = None,
) -> Planned:
    """`frozen` campaigns get no step. `absence_believed`: the extract is proven whole, so what is not in it is not in the ERP.

    If it is not, a campaign with a promotion that would end gets no step at all: a window, a vendor or the campaign may be missing only
    in the file. `unoffered` (campaign, vendor) do not depend on that, such as rows that the platform cannot express: their promotions end.

    A promotion that begins later than `ahead` is not created yet, unless it takes the place of a sent one in its days.
    """
    held = frozenset(frozen)
    known = {promotion.identity: promotion for promotion in promotions}
    asked = {want.identity: want for want in wanted if want.head.end > now}
    passed_over = {} if absence_believed else unproven(known.values(), asked, held, unoffered, now)
    held |= frozenset(passed_over)
    first, changes, creates, last = list[Step](), list[Step](), list[Step](), list[Step]()
    successors = _by_campaign(asked.values())
    for identity, want in asked.items():
        have = known.get(identity)
        if not held.isdisjoint(want.campaigns) or (have is not None and not held.isdisjoint(have.campaigns)):
            continue
        if have is not None and (have.busy or have.waits):
            passed_over[want.head.campaign] = _why_not_now(have)
        elif have is None or not have.there:
            creates.append(Step("create", want, have))
        else:
            changes.append(Step("change", want, have))
    creates, later = _parted(creates, leaving(known.values(), asked, now), now, ahead)
    absent = []
    uncreated = not_created(asked.values(), known)
    for identity, have in known.items():
        if identity in asked or not held.isdisjoint(have.campaigns) or not have.there or have.end_time <= now:
            continue
        if have.busy or have.waits:
            passed_over[have.campaign] = _why_not_now(have)
        elif lacks(have, uncreated):
            passed_over[have.campaign] = NOT_CREATED
        elif any(takes_place_of(want, have) for campaign in have.campaigns for want in successors[campaign]):
            last.append(Step("end", None, have, replaced=True))
        else:
            absent.append(have)
            first.append(Step("end", None, have))
    return Planned([*first, *changes, *creates, *last], passed_over, absent, later)


def _by_campaign(asked: Iterable[Wanted]) -> defaultdict[str, list[Wanted]]:
    """The wanted promotions of each campaign."""
    found: defaultdict[str, list[Wanted]] = defaultdict(list)
    for want in asked:
        for campaign in want.campaigns:
            found[campaign].append(want)
    return found


def _parted(
    creates: Iterable[Step], leaving: Mapping[str, list[KnownPromotion]], now: dt.datetime, ahead: dt.timedelta | None
) -> tuple[list[Step], list[Wanted]]:
    """What is created now, and what begins too far ahead."""
    soon: list[Step] = []
    later: list[Wanted] = []
    for step in creates:
        want = step.wanted
        if want is None or not waits(want, leaving, now, ahead):
            soon.append(step)
        else:
            later.append(want)
    return soon, later


def _why_not_now(have: KnownPromotion) -> str:
    """Why a promotion gets no step now."""
    return "a request about it is in flight" if have.busy else FAILED_LATELY
