"""The first decision about a hold stands: in which states a person may still decide, and which may be opened again."""

from __future__ import annotations

from shelfsync.decisions.state import HoldState

REOPENED = (HoldState.DECLINED, HoldState.EXPIRED)
"""The states from which a person may open a hold again. What is approved is sent."""


def undecided(state: HoldState) -> tuple[HoldState, ...]:
    """The states of a hold that a person may still decide so: of an open one anything, of an expired one that it is declined."""
    return (HoldState.OPEN, HoldState.EXPIRED) if state == HoldState.DECLINED else (HoldState.OPEN,)
