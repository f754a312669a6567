"""What a route gets: one text for all that is due, the most severe first, alike alerts in one group."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync import display
from shelfsync.alerts.kind import KINDS, Severity
from shelfsync.alerts.subject_in_words import subject_in_words
from shelfsync.chain_names_in_text import own_names

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Sequence

SHOWN_MAX = 5
"""So many alerts of one kind are told each by its sentence; of the others only the number."""


@dataclass(frozen=True)
class Due:
    """One message of the outbox, with its alert."""

    message_id: int
    alert_id: int
    act: str
    kind: str
    subject: str
    message: str
    opened_at: dt.datetime
    closed_at: dt.datetime | None
    incident: str | None = None
    """The key of what reported its opening to the route first; None: nothing has."""
    repeat: bool = False
    """Whether the route may have it already, in another message."""

    @property
    def closed(self) -> bool:
        """Whether it reports the end of its alert. An opening does, too, if its alert ended before the route took anything."""
        return self.act == "closed" or self.closed_at is not None


def _each_once(due: Sequence[Due]) -> list[Due]:
    """The newest message about each opening and each end: a condition that got worse before a digest is in it once."""
    return list({(one.alert_id, one.closed): one for one in due}.values())


def key(route: str, due: Sequence[Due]) -> str:
    """What tells one message to a route from every other, of other installations too, and is the same when the same is sent again."""
    each = [f"{one.message_id} {one.opened_at.isoformat()}" for one in due]
    return "shelfsync-" + hashlib.sha256("\n".join([route, *each]).encode()).hexdigest()[:32]


def urgency(due: Sequence[Due]) -> str:
    """How a service shows it, by a name that Apprise has: failure, warning; success, if it reports ends alone."""
    opened = [KINDS[one.kind].severity for one in due if not one.closed]
    if not opened:
        return "success"
    return "failure" if Severity.SEVERE in opened else "warning"


def title(due: Sequence[Due], chain: str | None = None) -> str:
    """One line for a subject or a phone: the worst that is due, and how much else."""
    due = _each_once(due)
    whose = "shelfsync" if chain is None else f"shelfsync {chain}"
    opened = [one for one in due if not one.closed]
    if not opened:
        rest = f" and {len(due) - 1} more" if len(due) > 1 else ""
        return f"{whose}: over: {_name(due[0])}{rest}"
    first = min(opened, key=_rank)
    same = [one for one in opened if one.kind == first.kind]
    others = len(opened) - len(same)
    what = _name(first) if len(same) == 1 else f"{KINDS[first.kind].title} ({len(same)} times)"
    return f"{whose}: {KINDS[first.kind].severity}: {what}" + (f", and {others} more" if others else "")


def body(due: Sequence[Due], *, link: str | None, chain: str | None = None) -> str:
    """Each kind with what is wrong, since when, what customers see, what happens by itself, the runbook; then what is over."""
    news = {one.alert_id for one in due if one.act == "opened"}
    due = _each_once(due)
    opened = [one for one in due if not one.closed]
    parts = [
        _group(kind, [one for one in opened if one.kind == kind], link, chain)
        for kind in dict.fromkeys(one.kind for one in sorted(opened, key=_rank))
    ]
    closed = [one for one in due if one.closed]
    if closed:
        lines = [
            f"- {_name(one)}: {_lasted(one)}" + (f": {one.message.rstrip('.')}" if one.alert_id in news else "")
            for one in closed[:SHOWN_MAX]
        ]
        parts.append("\n".join(["Over:", *lines, *_rest(closed, " --closed")]))
    return own_names("\n\n".join(parts), chain)


def pages_at(link: str, chain: str | None) -> str:
    """The address of the pages of a chain, by the setting SHELFSYNC_ALERTS__LINK."""
    return link.rstrip("/") + ("" if chain is None else f"/{chain}")


def _group(name: str, alike: Sequence[Due], link: str | None, chain: str | None) -> str:
    kind, command = KINDS[name], "shelfsync" if chain is None else f"shelfsync --chain {chain}"
    lines = [
        f"- {one.message.rstrip('.')} (alert {one.alert_id}, since {display.instant(one.opened_at)})"
        for one in alike[:SHOWN_MAX]
    ]
    page = [] if link is None else [f"Page: {pages_at(link, chain)}/alerts"]
    return "\n".join(
        [
            f"{kind.severity.upper()}: {kind.title}" + (f", {len(alike)} times" if len(alike) > 1 else ""),
            *lines,
            *_rest(alike),
            f"Customers: {kind.customers}",
            f"By itself: {kind.by_itself}",
            f"Runbook: {kind.page}",
            *page,
            f"Take it on: {command} alerts acknowledge {ranges([one.alert_id for one in alike])}",
        ]
    )


def ranges(numbers: Iterable[int]) -> str:
    """Every number once, as a command takes them: `3 4 7-19`."""
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return " ".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else " ".join(map(str, run)) for run in found)


def _rest(alike: Sequence[Due], option: str = "") -> list[str]:
    return [f"- and {len(alike) - SHOWN_MAX} more: `shelfsync alerts list{option}`"] if len(alike) > SHOWN_MAX else []


def _rank(one: Due) -> tuple[int, str, int]:
    return KINDS[one.kind].severity.rank, one.kind, one.alert_id


def _name(one: Due) -> str:
    about = subject_in_words(one.kind, one.subject)
    return KINDS[one.kind].title + (f" ({about})" if about else "")


def _lasted(one: Due) -> str:
    end = "" if one.closed_at is None else f" to {display.instant(one.closed_at)}"
    return f"from {display.instant(one.opened_at)}{end}"
