"""pause and resume: a person turns the kill switch, and is told what that means now."""

from __future__ import annotations

import difflib
import logging
from typing import TYPE_CHECKING, Any, cast

from shelfsync.errors import ConfigurationError, DataError
from shelfsync.ledger import batches, jobs, switches, vendor_runs, vendors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.switches import Scope

log = logging.getLogger(__name__)


def pause(parts: Parts, scope: str, vendor: str | None, *, why: str, who: str, anyway: bool = False) -> dict[str, Any]:
    """Stops sending; `{"paused": [...], "lines": [...]}`. A vendor the ledger has never seen is a DataError, unless `anyway`."""
    with parts.engine.begin() as connection:
        if scope == "vendor" and not anyway:
            _require_known(vendor or "", vendors.names(connection))
        name = _name(parts, scope, vendor)
        switches.turn(connection, cast("Scope", scope), name, stopped=True, why=_said(why), who=_said(who))
        told = _told(connection)
        flying = [job for job in jobs.open_jobs(connection) if scope != "vendor" or job.vendor == vendor]
    lines = [f"PAUSED: {stop}" for stop in told["paused"]]
    if flying:
        lines.append(
            f"{len(flying)} jobs are with the platform already and will end there; what became of them is still fetched"
        )
    log.warning("pause: %s", told["paused"])
    return {**told, "in_flight": len(flying), "lines": lines}


def resume(parts: Parts, scope: str, vendor: str | None, *, why: str, who: str) -> dict[str, Any]:
    """Lets it go on; says what is still stopped by another switch."""
    with parts.engine.begin() as connection:
        name = _name(parts, scope, vendor)
        was = [stop for stop in switches.stops(connection) if (stop.scope, stop.name) == (scope, name)]
        if was:
            switches.turn(connection, cast("Scope", scope), name, stopped=False, why=_said(why), who=_said(who))
            _give_up_old_plans(connection, vendor if scope == "vendor" else None)
        told = _told(connection)
    first = f"{was[0].what} goes on with the next run" if was else "nothing was stopped by that switch"
    log.warning("resume: %s %s by %s: %s", scope, name, who, first)
    return {**told, "resumed": bool(was), "lines": [first, *(f"STILL PAUSED: {stop}" for stop in told["paused"])]}


def _give_up_old_plans(connection: Connection, vendor: str | None) -> None:
    """What was planned before or during the pause may be hours old: the next run compares anew and sends what is wanted by then.

    A body that is on its way is brought to its end all the same, by the steps that settle it (flow.each_vendor).
    """
    why = "sending was paused; the next run compares anew"
    for run_id, name, generation in batches.supersede_waiting(connection, vendor):
        vendor_runs.supersede(connection, run_id, name, generation, why)


def _told(connection: Connection) -> dict[str, Any]:
    return {"paused": [str(stop) for stop in switches.stops(connection)]}


def _name(parts: Parts, scope: str, vendor: str | None) -> str:
    if scope == "all":
        return ""
    if scope == "vendor":
        return vendor or ""
    if not parts.settings.platform.chain:
        raise ConfigurationError("SHELFSYNC_PLATFORM__CHAIN", "the chain is not set", "Set it, or use --all.")
    return parts.settings.platform.chain


def _said(text: str) -> str:
    """One line of at most 500 characters: it stands in logs, on pages and in summaries."""
    line = " ".join(text.split())[:500]
    if not line:
        raise DataError("pause: the reason and the person may not be empty; they are what the next one asks for")
    return line


def _require_known(vendor: str, known: Iterable[str]) -> None:
    names = sorted(known)
    if vendor in names:
        return
    near = difflib.get_close_matches(vendor, names, n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    raise DataError(
        f"pause: the ledger has never seen a vendor {vendor!r}, so nothing was stopped.{meant} With --anyway it is stopped before its first run."
    )
