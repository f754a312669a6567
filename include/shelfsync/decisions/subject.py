"""What differs between the subjects whose changes are held: how the rows of a hold are read, divided, and sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.context import Context
    from shelfsync.decisions.hold import Found, Hold
    from shelfsync.decisions.state import Subject


@dataclass(frozen=True)
class Divided:
    """What other thresholds of a rule make of a hold."""

    used: dict[str, Any]
    """The thresholds in full."""
    released: pa.Table
    """The rows that they release."""
    identity: str
    """Of these rows."""
    rest: list[Found]
    """What they still hold."""


@dataclass(frozen=True)
class HoldSubject:
    """One subject. A function gets the hold as the ledger has it."""

    subject: Subject
    facts: tuple[str, ...]
    """Columns of a row that a person reads before its values."""
    values: tuple[str, ...]
    """Columns of a row that have the value before beside them (`NAME_before`)."""
    rows: Callable[[Context, Hold], pa.Table]
    """The held rows: `sku`, the facts, the values before and after, and `move`, the new price divided by the old one."""
    stake: Callable[[Context, Sequence[Hold], dict[str, Any] | None], dict[str, Any]]
    """What an approval of these holds will do: `{"stake", "moves", "lines"}`; with thresholds, of what they release alone."""
    divide: Callable[[Context, Hold, dict[str, Any]], Divided | None]
    """Applies the rule of a hold once with other thresholds. None: it cannot be applied any more. A DataError: they are invalid."""
    lock: Callable[[Connection, Hold], None]
    """Takes the locks of the subject that come before those of its holds."""
    approved: Callable[[Connection, Hold], None]
    """What else the approval of a hold means, in its transaction."""
    release: Callable[[Context, int], dict[str, Any]]
    """Plans what was approved: `{"run", "vendors", "label", "line"}`. No vendors: there is nothing to deliver now."""
    send: Callable[[Context, Sequence[int]], dict[str, Any]]
    """Releases approved holds, and sends what can be sent at once: `{"released", "lines"}`."""
    effect: str
    """One sentence about what the two decisions do."""
    sent_shown: Callable[[Hold], str]
    """Where a person sees what was sent of it, as the end of a sentence."""
    in_words: Callable[[str, Any], Any] = lambda _name, held: held
    """Name and stored value of a fact -> what a person reads."""
    categories: Callable[[Context, str], list[str]] = lambda *_: []
    """The categories of a store."""
    skus_of_category: Callable[[Context, str, str], list[str]] = lambda *_: []
    """The SKUs of one of them."""
    names: Callable[[Context, str, Collection[str]], dict[str, str]] = lambda *_: {}
    """SKU -> what the ERP calls it, of these SKUs of a vendor, as far as it is known."""
