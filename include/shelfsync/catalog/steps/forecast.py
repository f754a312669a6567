"""Forecast: how long the plan will take at the present rate limit, and whether it ends before the next scheduled run."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from shelfsync.catalog.ledger import batches
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.platform import kill_switch
from shelfsync.platform.rate_limit.forecast import Requests

if TYPE_CHECKING:
    from shelfsync.context import Context
    from shelfsync.platform.rate_limit.forecast import Forecast


def outlook(context: Context) -> Forecast:
    """The forecast of all plans and all open jobs, of every run together, because they share one rate limit.

    A job counts as its request, one status call and its log; with a webhook it takes two thirds. The plan of a paused vendor is counted
    separately. While everything is paused, the forecast ignores the next run.
    """
    from shelfsync.platform.rate_limit import RateLimiter
    from shelfsync.platform.rate_limit.tables import counted

    with context.engine.connect() as connection:
        planned = batches.count_planned(connection)
        on_their_way = len(catalog_jobs.open_jobs(connection))
        off = kill_switch.stops(connection)
    chain = context.settings.platform.chain
    waiting = sum(count for vendor, count in planned.items() if kill_switch.of_vendor(off, vendor, chain=chain))
    requests = Requests(sum(planned.values()) - waiting, others=0).total + 2 * on_their_way
    limiter = RateLimiter(context.engine, counted(context.settings), context.clock)
    all_paused = kill_switch.of_vendor(off, None, chain=chain) is not None
    ahead = limiter.forecast(requests, every_s=None if all_paused else context.settings.sync.delta_interval_s)
    return dataclasses.replace(ahead, waiting=waiting)
