"""pause and resume: a person turns the kill switch, for one store, the chain or everything."""

from __future__ import annotations

import difflib
import logging
from typing import TYPE_CHECKING, Any, cast

from shelfsync.catalog.ledger import batches, vendor_runs, vendors
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.errors import ConfigurationError, DataError
from shelfsync.platform import kill_switch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection

    from shelfsync.context import Context
    from shelfsync.platform.kill_switch import Scope


log = logging.getLogger(__name__)


def pause(
    context: Context, scope: str, vendor: str | None, *, why: str, who: str, anyway: bool = False
) -> dict[str, Any]:
    """Stops sending; `{"paused": [...], "lines": [...]}`. A vendor the ledger has never seen is a DataError, unless `anyway`."""
    with context.engine.begin() as connection:
        if scope == "vendor" and not anyway:
            require_known(
                vendor or "", vendors.names(connection), "pause", "With --force it is stopped before its first run."
            )
        name = _name(context, scope, vendor)
        kill_switch.turn(
            connection, cast("Scope", scope), name, stopped=True, why=one_line("pause", why), who=one_line("pause", who)
        )
        result = _result(connection)
        flying = [job for job in catalog_jobs.open_jobs(connection) if scope != "vendor" or job.vendor == vendor]
    lines = [f"PAUSED: {stop}" for stop in result["paused"]]
    if flying:
        lines.append(
            f"{len(flying)} jobs are already on the platform and will end there; shelfsync still reads their outcomes"
        )
    for stop in result["paused"]:
        log.warning("pause: %s", stop)
    return {**result, "in_flight": len(flying), "lines": lines}


def resume(context: Context, scope: str, vendor: str | None, *, why: str, who: str) -> dict[str, Any]:
    """Ends a pause; the result lists what another switch still stops."""
    with context.engine.begin() as connection:
        name = _name(context, scope, vendor)
        was = [stop for stop in kill_switch.stops(connection) if (stop.scope, stop.name) == (scope, name)]
        if was:
            kill_switch.turn(
                connection,
                cast("Scope", scope),
                name,
                stopped=False,
                why=one_line("resume", why),
                who=one_line("resume", who),
            )
            give_up_old_plans(
                connection, vendor if scope == "vendor" else None, "sending was paused; the next run compares again"
            )
        result = _result(connection)
    first = f"{was[0].what} continues with the next run" if was else "nothing was stopped by that switch"
    log.warning("resume: %s %s by %s: %s", scope, name, who, first)
    return {**result, "resumed": bool(was), "lines": [first, *(f"STILL PAUSED: {stop}" for stop in result["paused"])]}


def give_up_old_plans(connection: Connection, vendor: str | None, why: str) -> None:
    """Supersedes plans of one vendor or of all that are not sent yet; they may be hours old.

    A request that may have been sent is still finished by recover (steps.each_vendor).
    """
    for run_id, name, generation in batches.supersede_waiting(connection, vendor):
        vendor_runs.supersede(connection, run_id, name, generation, why)


def _result(connection: Connection) -> dict[str, Any]:
    return {"paused": kill_switch.lines(connection)}


def _name(context: Context, scope: str, vendor: str | None) -> str:
    if scope == "all":
        return ""
    if scope == "vendor":
        return vendor or ""
    if not context.settings.platform.chain:
        raise ConfigurationError("SHELFSYNC_PLATFORM__CHAIN", "the chain is not set", "Set it, or use --all.")
    return context.settings.platform.chain


def one_line(verb: str, text: str) -> str:
    """One line of at most 500 characters, for logs, pages and reports."""
    line = " ".join(text.split())[:500]
    if not line:
        raise DataError(f"{verb}: the reason and the person may not be empty")
    return line


def require_known(vendor: str, known: Iterable[str], verb: str, otherwise: str = "") -> None:
    """DataError for a vendor that the ledger has never seen, with the name that was probably meant."""
    names = sorted(known)
    if vendor in names:
        return
    near = difflib.get_close_matches(vendor, names, n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    raise DataError(
        f"{verb}: the ledger has never seen a vendor {vendor!r}, so nothing was done.{meant} {otherwise}".strip()
    )
