"""A hold: changes that a guard keeps back, and what becomes of them.

- An open hold waits HOLD_HOURS for a person. Then it expires, and its changes stay held.
- The first decision stands, until a person opens the hold again (`undecided`, `REOPENED`).
- An approval lets exactly its values pass, for APPROVAL_HOURS, until the platform has acknowledged them: then it is spent.
- A newer extract with other rows supersedes the hold. If it has the same rows, the hold stays, with its decision.

What the values of an approved or declined hold mean in a later delta is in the subject: `catalog.guards.approved_values`, `catalog.guards.declined_values`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shelfsync.decisions.state import HoldState, Subject

if TYPE_CHECKING:
    import datetime as dt

TIMEOUT = "timeout"
"""The decider of a hold that expired."""
REOPENED = (HoldState.DECLINED, HoldState.EXPIRED)
"""The states from which a person may open a hold again. What is approved is sent."""


def undecided(state: HoldState) -> tuple[HoldState, ...]:
    """The states of a hold that a person may still decide so: of an open one anything, of an expired one that it is declined."""
    return (HoldState.OPEN, HoldState.EXPIRED) if state == HoldState.DECLINED else (HoldState.OPEN,)


@dataclass(frozen=True)
class Hold:
    """One row of `ledger.hold`."""

    hold_id: int
    subject: Subject
    vendor: str
    first_run_id: int
    run_id: int
    generation: int
    rule: str
    category: str | None
    campaign: str | None
    message: str
    thresholds: dict[str, Any]
    rows_path: str
    before_path: str | None
    identity: str | None
    rows: int
    state: HoldState
    asked_by: str | None
    decided_by: str | None
    why: str | None
    superseded_by: int | None
    held_at: dt.datetime
    expires_at: dt.datetime
    decided_at: dt.datetime | None
    released_at: dt.datetime | None
    spent_at: dt.datetime | None
    acts: int

    @property
    def label(self) -> str:
        """A short name for people."""
        about = "".join(f" {name}" for name in (self.category, self.campaign) if name)
        return f"{self.vendor} {self.rule}{about}: {self.rows} rows"

    @property
    def named(self) -> str:
        """Number and name, as a line for people begins."""
        return f"hold {self.hold_id} ({self.label})"

    @property
    def may_be_approved(self) -> bool:
        """True for an open hold, while no newer extract has other rows."""
        return self.may_become(HoldState.APPROVED)

    def may_become(self, state: HoldState) -> bool:
        """Whether a person may still decide this, while no newer extract has other rows."""
        return self.state in undecided(state) and self.superseded_by is None

    @property
    def may_be_reopened(self) -> bool:
        """True for a declined or expired hold, while no newer extract has other rows."""
        return self.state in REOPENED and self.superseded_by is None

    @property
    def mark(self) -> str:
        """What a person sees of it: its rows and the last act. An answer that was given to another mark decides nothing."""
        seen = f"{self.hold_id} {self.identity or self.rows_path} {self.rows} {self.state} {self.acts} {self.superseded_by}"
        return hashlib.sha256(seen.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Found:
    """Changes that a guard of the present run holds."""

    vendor: str
    rule: str
    category: str | None
    message: str
    thresholds: dict[str, Any]
    rows_path: str
    before_path: str | None
    identity: str
    rows: int
    campaign: str | None = None
    carried: int | None = None
    """The decided hold that held the same values."""


def becomes(hold: Hold) -> str:
    """What becomes of the changes of an approved hold."""
    if hold.released_at is not None:
        return "its changes are sent"
    if hold.superseded_by is None:
        return "the next run sends its changes"
    if hold.spent_at is None:
        return f"run {hold.superseded_by} has a newer extract: what the ERP still has of these values is sent"
    return f"the newer extract of run {hold.superseded_by} has not these values, so nothing of it is sent"


def superseded(hold: Hold) -> str:
    """What became of a hold whose values the ERP does not have any more."""
    return f"{hold.named}: superseded by the newer extract of run {hold.superseded_by}; nothing of it is sent"


def not_sent(hold: Hold) -> str:
    """Why nothing is sent of a hold that is not approved, and who decided that."""
    if hold.superseded_by is not None:
        return superseded(hold)
    by = f" by {hold.decided_by}" if hold.decided_by else ""
    return f"{hold.named} is {hold.state}{by}; nothing of it is sent"
