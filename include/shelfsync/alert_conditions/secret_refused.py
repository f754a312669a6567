"""Alert `secret_refused`: which calls with a wrong secret are news of the platform's or the stores' secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync import display
from shelfsync.catalog.warehouse import record
from shelfsync.inbox import refusals

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found
    from shelfsync.context import Context


MISSING_EVENTS = 1
"""So many jobs that ended by polling since calls were rejected show that their events are missing."""


def secret_refused(_: Context, connection: Connection) -> Found:
    """Calls to the receiver with a wrong secret, for minutes. The platform's next event, or an hour without such a call, ends it.

    A stranger's calls are no news of the platform's secret: those to its endpoint count once a job has ended whose event did not come.
    """
    whose = {refusals.INBOX: "events", refusals.PICKING: "picking results"}
    found = refusals.lately(connection)
    events_of = found.get(refusals.INBOX)
    if events_of and record.polled_since(connection, events_of.began_at, most=MISSING_EVENTS) < MISSING_EVENTS:
        del found[refusals.INBOX]
    return {
        ("secret_refused", whose[endpoint]): f"the receiver rejected {one.calls:,} calls with {whose[endpoint]} since"
        f" {display.instant(one.began_at)}, because their secret is wrong; the last came at {display.instant(one.last_at)}"
        for endpoint, one in found.items()
    }
