"""Where alerts go: routes to people, each with an address, what it takes, and when."""

from __future__ import annotations

import datetime as dt
import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from shelfsync.settings.section import Section, ServiceAddress, WebAddress


def _clock(value: Any) -> Any:
    """A time of the day as HH:MM."""
    if isinstance(value, str):
        if re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", value) is None:
            raise PydanticCustomError("no_clock", "{value} is no time of the day; write HH:MM", {"value": repr(value)})
        return dt.time.fromisoformat(value)
    return value


Clock = Annotated[dt.time, BeforeValidator(_clock)]


class AlertRoute(Section):
    """One route: to whom, what, and when. Times of the day are in SHELFSYNC_TIME_ZONE."""

    name: str = Field(min_length=1, max_length=40, pattern=r"^[a-z0-9][a-z0-9_-]*$")
    """The name of the route in lists and messages: small letters, digits, `-`, `_`."""
    address: ServiceAddress
    """An address as Apprise has it: mailto://…, slack://…, msteams://…, pagerduty://…, json://…. `connection:NAME`: the password of that connection of Airflow."""
    severities: tuple[Literal["severe", "warning", "notice"], ...] = ("severe", "warning")
    """The severities that it takes."""
    kinds: tuple[str, ...] = ()
    """The kinds that it takes; empty: every kind of its severities. Besides, it takes `route_away` of every other route."""
    unacknowledged_minutes: float = Field(0, ge=0)
    """It takes an alert so many minutes after it opened, if no person has acknowledged it by then: an escalation."""
    quiet_from: Clock | None = None
    """In quiet hours it takes nothing; what came meanwhile is sent at their end."""
    quiet_to: Clock | None = None
    """The end of the quiet hours."""
    digest_at: Clock | None = None
    """It takes everything once a day, at this time, in one message."""

    @model_validator(mode="after")
    def _both_or_none(self) -> AlertRoute:
        if (self.quiet_from is None) != (self.quiet_to is None):
            raise PydanticCustomError("half_quiet", "quiet hours need quiet_from and quiet_to", {})
        return self


class AlertSettings(Section):
    """Alerts: the routes to people, and how much must be wrong."""

    routes: tuple[AlertRoute, ...] = ()
    """The routes, as a list of tables in the file or as JSON in the environment. Empty: alerts are listed and sent to no person."""
    link: str | None = None
    """The address of shelfsync's pages as people reach them, for links in messages: https://airflow.example.com/shelfsync/pages."""
    heartbeat: WebAddress | None = None
    """A web address that is called after each look of the watch, unless a message waits that a route refused: your monitor alarms when no call comes."""
    late_minutes: float = Field(30, gt=0)
    """A store is late if its oldest change waits so long."""
    unread_minutes: float = Field(60, gt=0)
    """The ERP counts as not read after so many minutes without a reading of any store."""
    unchanged_minutes: float | None = Field(None, gt=0)
    """The ERP counts as standing still if the readings of so many minutes in opening hours found no change at any store; unset: never."""
    open_from: Clock | None = None
    """When the first store opens, in SHELFSYNC_TIME_ZONE; unset: the stores are always open."""
    open_to: Clock | None = None
    """When the last store closes."""
    open_days: tuple[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"], ...] = (
        *("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
    )
    """The days on which the opening hours begin."""
    expires_hours: float = Field(2, gt=0)
    """A hold that expires within so many hours is reported as severe."""
    accepted_share: float = Field(0.5, ge=0, le=1)
    """A store whose last results have a smaller share of accepted SKUs is reported; 0: never."""
    quarantined_share: float = Field(0.1, ge=0, le=1)
    """A store is reported if a larger share of its rows in the ERP cannot be sent; 1: never."""
    disk_free_share: float = Field(0.1, ge=0, lt=1)
    """A disk of this machine with a smaller free share is nearly full."""

    @model_validator(mode="after")
    def _opening_and_closing(self) -> AlertSettings:
        if (self.open_from is None) != (self.open_to is None):
            raise PydanticCustomError("half_open", "opening hours need open_from and open_to", {})
        if self.open_from is not None and self.open_from == self.open_to:
            raise PydanticCustomError("never_open", "open_from and open_to are the same; unset both for always", {})
        return self

    @field_validator("routes")
    @classmethod
    def _one_name_each(cls, routes: tuple[AlertRoute, ...]) -> tuple[AlertRoute, ...]:
        names = [route.name for route in routes]
        for name in names:
            if names.count(name) > 1:
                raise PydanticCustomError("same_name", "two routes have the name {name}", {"name": repr(name)})
        return routes
