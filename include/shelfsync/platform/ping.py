"""Asks the platform whether it answers, where no request of a run has found that out lately. The gate of each request stores what it meets
(outages.py), so an outage is known within a minute even when there is nothing to send.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import sqlalchemy as sa

from partner_api.errors import PartnerError
from shelfsync import outages
from shelfsync.errors import ShelfsyncError, in_one_line
from shelfsync.platform.rate_limit.scope import counted
from shelfsync.platform.rate_limit.tables import allowance, permit
from shelfsync.store.metadata import after, instant

if TYPE_CHECKING:
    from shelfsync.context import Context

log = logging.getLogger(__name__)

HEARD_S = 5.0
"""A request of this chain that had ended within so many seconds has stored already whether the platform answers. Each second more delays alerts."""


def ask(context: Context, vendor: str) -> None:
    """Asks the platform about a vendor, and once more after a failure: after outages.SHOWN_FROM_S it is no longer one that a repeat heals.

    At most two requests; none while the rate limit is paused, or after a request of the last HEARD_S. Never fails because the platform,
    its credentials or its settings do.
    """
    if _is_paused(context):
        return
    if outages.going_on(context.engine, outages.PLATFORM) is None and _is_heard(context):
        return
    _ask(context, vendor)
    failing_s = outages.going_on(context.engine, outages.PLATFORM)
    if failing_s is not None and failing_s < outages.SHOWN_FROM_S:
        context.clock.sleep(outages.SHOWN_FROM_S - failing_s)
        _ask(context, vendor)


def _ask(context: Context, vendor: str) -> None:
    try:
        context.open_platform().ping(vendor)
    except (PartnerError, ShelfsyncError) as error:  # the gate has stored an outage; all else is reported by the runs
        log.info("ping: %s", in_one_line(error))


def _is_paused(context: Context) -> bool:
    of_key = allowance.c.key == counted(context.settings).scope
    with context.limits.connect() as connection:
        found = connection.execute(sa.select(allowance.c.paused_until > instant()).where(of_key))
        return bool(found.scalar_one_or_none())


def _is_heard(context: Context) -> bool:
    settings = context.settings
    column = permit.c
    ours = sa.and_(
        column.key == counted(settings).scope, column.chain == (settings.chain or settings.platform.chain or "")
    )
    lately = sa.and_(column.slot_at > after(-3600), column.arrived_by.between(after(-HEARD_S), instant()))
    of_platform = column.operation != "download"  # that may come from a storage host
    with context.limits.connect() as connection:
        return bool(connection.execute(sa.select(sa.exists().where(ours, lately, of_platform))).scalar_one())
