"""export: asks the platform for its own picture of each vendor (interface.md 4.4). Harmless, so it may be asked for again."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from partner_api.errors import AmbiguousError, CredentialsError, ThrottledError
from shelfsync.errors import ConfigurationError, DataError, NothingSyncedError, TryAgainError
from shelfsync.flow.each_export import each_export
from shelfsync.flow.each_vendor import Skip, StepReport
from shelfsync.flow.extract import shards
from shelfsync.flow.turned_away import TurnedAway
from shelfsync.inbox import events
from shelfsync.ledger import exports, tables

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partner_api.models.job import Job as PlatformJob
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.exports import Export

log = logging.getLogger(__name__)

REPEATS = 2
"""How often a request follows one whose answer was lost, before the next run takes over."""


def plan_exports(parts: Parts, run_key: str, vendors: tuple[str, ...]) -> list[dict[str, Any]]:
    """The shards of an export: the vendors asked for, else those of the settings, else every one that was ever in an extract."""
    with parts.engine.begin() as connection:
        names = vendors or parts.settings.sync.vendors or _seen(connection)
        exports.plan(connection, run_key, dict.fromkeys(names), deadline_s=parts.settings.export.deadline_s)
        planned = [one.vendor for one in exports.of_run(connection, run_key)]
    if not planned:
        raise NothingSyncedError("export: no vendor is known yet. Run a sync first, or name the vendors.")
    sync = parts.settings.sync
    return [{**shard, "run": run_key} for shard in shards(planned, 0, sync.shard_vendors, sync.shards_max)]


def export(parts: Parts, run_key: str, names: Iterable[str]) -> StepReport:
    """Sends one request a vendor; its row is committed before it leaves."""
    away = TurnedAway()

    def work(one: Export) -> None:
        if one.state not in {"planned", "requesting"}:
            raise Skip("asked for before")
        _request(parts, one, away)

    return each_export(parts, run_key, names, "export", work)


def _request(parts: Parts, one: Export, away: TurnedAway) -> None:
    answer = _post(parts, one, away)
    away.served()
    if answer.job_id is None:
        raise DataError("the platform took the request and named no job, so its file cannot be asked for")
    try:
        with parts.engine.begin() as connection:
            exports.answered(
                connection,
                one.export_id,
                platform_job_id=answer.job_id,
                status=answer.status,
                poll_after_s=parts.settings.sync.poll_first_s,
            )
    except IntegrityError:
        raise DataError(
            f"the platform answered with job {answer.job_id}, which belongs to another export; the next run asks again"
        ) from None
    log.info("export: vendor %s: job %s", one.vendor, answer.job_id)


def _post(parts: Parts, one: Export, away: TurnedAway) -> PlatformJob:
    for attempt in range(REPEATS + 1):
        with parts.engine.begin() as connection:
            exports.begin(
                connection,
                one.export_id,
                deadline_s=parts.settings.export.deadline_s,
                after_event=events.newest(connection),
            )
        try:
            return parts.open_platform().export(one.vendor, lane="export")
        except AmbiguousError as error:
            if attempt == REPEATS:
                raise
            log.warning("export: vendor %s: %s", one.vendor, error)
            parts.clock.sleep(2.0 * (attempt + 1))
        except ThrottledError as error:  # the whole address is asked to wait: every vendor is concerned
            raise TryAgainError(str(error), after_s=error.retry_after_s or 0.0) from error
        except CredentialsError as error:
            if away.alone(parts, one.vendor, error):
                raise
            raise ConfigurationError("shelfsync_platform", str(error), "Nothing was asked for.") from error
    raise AssertionError("unreachable")


def _seen(connection: sa.Connection) -> tuple[str, ...]:
    """Vendors that were in an extract: one that somebody only typed is not among them."""
    in_run = sa.exists().where(tables.vendor_run.c.vendor == tables.vendor.c.vendor)
    statement = sa.select(tables.vendor.c.vendor).where(in_run).order_by(tables.vendor.c.vendor)
    return tuple(connection.execute(statement).scalars())
