"""What a hold is about, its states, and the places where persons decide about it."""

from __future__ import annotations

from enum import StrEnum


class Subject(StrEnum):
    """What is held."""

    CATALOG = "catalog"
    PROMOTIONS = "promotions"


class HoldState(StrEnum):
    """A hold, by its last decision."""

    OPEN = "open"
    APPROVED = "approved"
    DECLINED = "declined"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"


HELD = (HoldState.OPEN, HoldState.DECLINED, HoldState.EXPIRED)
"""The states in which the rows are not sent."""


class Place(StrEnum):
    """Where an act about a hold came from."""

    PAGE = "page"
    COMMAND = "command line"
    AIRFLOW = "Airflow"
    SHELFSYNC = "shelfsync"
    """No person: the time was over, or the rest of another hold got its decision."""


EVERY = "*"
"""The vendor of a hold that is about all of them."""
