"""What an alert is about, as a person calls it. The command line mutes by the subject itself."""

from __future__ import annotations

from shelfsync.alerts.kind import KINDS
from shelfsync.decisions.rule_name import rule_name
from shelfsync.decisions.state import Subject

_STORE = "vendor "


def subject_in_words(kind: str, subject: str) -> str:
    """The subject of an alert of this kind in words, such as `price change` of `catalog price_change`."""
    match kind:
        case "hold_waits" | "hold_expires":
            of, _, rule = subject.partition(" ")
            return rule_name(rule) if of == Subject.CATALOG else f"{of}, {rule_name(rule)}"
        case "paused" if subject.startswith(_STORE):
            return f"store {subject.removeprefix(_STORE)}"
        case "not_watched" if subject in KINDS:
            return KINDS[subject].title
        case _:
            return subject
