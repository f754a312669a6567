"""watch: looks for changes in the ERP every few seconds, at the price of one query, and starts a delta only if there is something to do.

One delta runs at a time. What changes during a run differs from the position that the run has moved, so the next look finds it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from shelfsync.catalog.ledger import readings, runs
from shelfsync.catalog.state import RunState
from shelfsync.errors import ConfigurationError, ShelfsyncError, TryAgainError, UnreachableError
from shelfsync.outages import erp_asked

if TYPE_CHECKING:
    from collections.abc import Callable

    from shelfsync.context import Context

log = logging.getLogger(__name__)

REST_S = 60.0
"""How long the watch leaves a vendor alone that is due although its rows did not change: one with a hold is due after every run."""


def news(context: Context, *, rested_s: float = REST_S) -> str | None:
    """Why a delta has something to do now, in a few words; None: nothing changed. It reads no row of the ERP and sends nothing.

    `rested_s`: a vendor that is due counts if its last run wrote nothing for so long.
    """
    erp = context.open_erp().followed()
    if erp is None:
        raise ConfigurationError(
            "SHELFSYNC_ERP__CHANGES_SQL",
            "it is not set, so a look for changes would read the whole ERP",
            "Give the SELECT of the changes, or SHELFSYNC_ERP__CHANGES_FILES (docs/how-to/reading-changes.md).",
        )
    with context.engine.connect() as connection:
        at = readings.at(connection, erp.feed)
        due = readings.due(connection, every_s=context.settings.sync.delta_interval_s, rested_s=rested_s)
    if at is None:
        return "the whole ERP was never read"
    with erp_asked(context.engine):
        mark = erp.mark(at.cursor)
    if mark != at.mark:
        return f"the ERP has changes since {at.cursor}"
    return f"{len(due)} vendors are due" if due else None


def something_to_do(context: Context) -> bool:
    """Whether a delta that begins now has anything to do; true if the ERP does not report changes, because then only a reading shows it."""
    return context.open_erp().followed() is None or news(context, rested_s=0) is not None


def delta_at_work(context: Context) -> bool:
    """Whether a run that sends is open and alive: a new one would wait for it."""
    with context.engine.connect() as connection:
        return runs.any_delta_alive(connection)


def watch(
    context: Context,
    start: Callable[[], dict[str, Any]],
    *,
    every_s: float,
    stopping: Callable[[], bool],
    ended: Callable[[dict[str, Any]], None],
) -> int:
    """Looks every `every_s` seconds until `stopping()`; `start` makes a run and returns its report, which `ended` gets. Returns how many.

    If a system does not answer, or a part of a run fails, it goes on at the next look. Any other error ends the watch: looking again
    does not correct a setting.
    """
    number = 0
    while not stopping():
        try:
            why = news(context)
            if why is not None:
                log.info("watch: %s", why)
                report = start()
                ended(report)
                number += 1
                if report["sent"]:
                    continue  # what changed meanwhile waits already
                if report["state"] in {RunState.FAILED, RunState.PARTLY_FAILED}:
                    context.clock.sleep(REST_S)  # the same rows would fail at once again
        except TryAgainError as error:
            log.warning("watch: %s", error)
            context.clock.sleep(min(max(error.after_s, every_s), REST_S))
        except ShelfsyncError as error:
            if isinstance(error, ConfigurationError) and not isinstance(error, UnreachableError):
                raise
            log.error("watch: %s", error)  # noqa: TRY400  its run has recorded it
            context.clock.sleep(REST_S)
        context.clock.sleep(every_s)
    return number
