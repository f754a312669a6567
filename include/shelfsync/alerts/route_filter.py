"""Which severities and kinds of alerts a route takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.alerts.kind import KINDS

if TYPE_CHECKING:
    from shelfsync.settings import AlertRoute


ROUTE_AWAY = "route_away"


def takes(route: AlertRoute, kind: str, subject: str = "") -> bool:
    """Whether a route takes alerts of this kind. Whatever a route takes, it takes that another is away or wrong; never that itself is."""
    if kind == ROUTE_AWAY:
        return subject != route.name
    return KINDS[kind].severity in route.severities and (not route.kinds or kind in route.kinds)
