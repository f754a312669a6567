"""outlook: how long what is planned will take at the present allowance, and whether the next run by the schedule finds it done."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from shelfsync.budget.forecast import Requests
from shelfsync.ledger import batches, jobs, switches

if TYPE_CHECKING:
    from shelfsync.budget.forecast import Forecast
    from shelfsync.flow.house import Parts


def outlook(parts: Parts) -> Forecast:
    """The forecast of all that is planned and all that is with the platform, of every run together: they share one allowance.

    A job counts as its request, one question and its log: where the webhook comes, it takes two thirds. What is planned for a paused
    vendor is counted apart; while all is paused, nothing is promised about the next run.
    """
    from shelfsync.budget import RequestBudget
    from shelfsync.budget.key import counted

    with parts.engine.connect() as connection:
        planned = batches.count_planned(connection)
        on_their_way = len(jobs.open_jobs(connection))
        off = switches.stops(connection)
    chain = parts.settings.platform.chain
    waiting = sum(count for vendor, count in planned.items() if switches.of_vendor(off, vendor, chain=chain))
    requests = Requests(sum(planned.values()) - waiting, others=0).total + 2 * on_their_way
    budget = RequestBudget(parts.engine, counted(parts.settings), parts.clock)
    all_paused = switches.of_vendor(off, None, chain=chain) is not None
    ahead = budget.forecast(requests, every_s=None if all_paused else parts.settings.sync.every_s)
    return dataclasses.replace(ahead, waiting=waiting)
