"""What is known of an export's end, and waiting for it: the same inbox, the same question, the same wait as for any job."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from partner_api.errors import NotEnabledError, NotFoundError, PartnerError, UnexpectedAnswerError
from shelfsync.flow import status_path
from shelfsync.flow.hear import News, known, storable
from shelfsync.flow.isolation import ask_alone
from shelfsync.flow.wait import until_none
from shelfsync.ledger import exports

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.exports import Export

log = logging.getLogger(__name__)


def ask(parts: Parts, one: Export) -> News:
    """One status call, charged to the budget's export lane; a platform without such a call is a normal thing."""
    if one.platform_job_id is None or not parts.settings.platform.job_status_path:
        return known(parts, one)
    status, log_url = one.platform_status, None
    if status_path.is_absent(parts, of="export"):
        later(parts, one, status=status)
        return known(parts, one)
    try:
        answer = parts.open_platform().job_status(one.platform_job_id, lane="export")
        status, log_url = storable(answer.status), storable(answer.download_url)
        status_path.found_present(parts, of="export")
    except (NotFoundError, NotEnabledError, UnexpectedAnswerError) as error:
        log.info("export: vendor %s: the platform does not tell its status: %s", one.vendor, error)
    except PartnerError as error:
        if not status_path.refuses(parts, error, of="export", overdue=one.overdue) or one.overdue:
            raise
        log.warning(
            "export: vendor %s: the platform does not tell its status, and is asked again in an hour: %s",
            one.vendor,
            error,
        )
    later(parts, one, status=status, log_url=log_url)
    with parts.engine.connect() as connection:
        fresh = exports.read(connection, one.export_id)
    return known(parts, fresh)


def later(parts: Parts, one: Export, *, status: str | None, log_url: str | None = None) -> None:
    """Keeps what was heard; the next question comes later each time."""
    sync = parts.settings.sync
    pause_s = min(sync.poll_max_s, sync.poll_first_s * 2.0 ** (one.polls + 1))
    with parts.engine.begin() as connection:
        exports.heard(connection, one.export_id, status=status, log_url=log_url, poll_after_s=pause_s)


async def until_exported(parts: Parts, run_key: str, vendors: Iterable[str]) -> dict[str, Any]:
    """Ends when every export of these vendors has ended or its deadline has passed: `{"ended": n, "left": n}`."""
    names = list(vendors)

    def waiting() -> list[Export]:
        with parts.engine.connect() as connection:
            found = exports.of_run(connection, run_key, names)
        return [one for one in found if one.state == "open" and not one.overdue and not known(parts, one).ended]

    def ask_one(one: Export) -> bool:
        return ask_alone(
            one,
            partial(ask, parts),
            lambda it: later(parts, it, status=it.platform_status),
            f"vendor {one.vendor}, export {one.export_id}",
        )

    return await until_none(parts, waiting, ask_one, deadline_s=parts.settings.export.deadline_s)
