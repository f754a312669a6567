"""Alert `paused`: a person has stopped the sending."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.platform import kill_switch

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found
    from shelfsync.context import Context


def paused(_: Context, connection: Connection) -> Found:
    return {
        ("paused", "" if stop.scope == "all" else stop.what): f"{stop.for_people} (`{stop.remedy}`)"
        for stop in kill_switch.stops(connection)
    }
