"""outlook: how long what is planned will take at the present allowance, and whether the next run by the schedule finds it done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.budget.forecast import Requests
from shelfsync.ledger import batches, jobs

if TYPE_CHECKING:
    from shelfsync.budget.forecast import Forecast
    from shelfsync.flow.house import Parts


def outlook(parts: Parts) -> Forecast:
    """The forecast of all that is planned and all that is with the platform, of every run together: they share one allowance.

    A job counts as its request, one question and its log: where the webhook comes, it takes two thirds.
    """
    from shelfsync.budget import RequestBudget
    from shelfsync.budget.key import counted

    with parts.engine.connect() as connection:
        planned = batches.count_planned(connection)
        on_their_way = len(jobs.open_jobs(connection))
    requests = Requests(planned, others=0).total + 2 * on_their_way
    budget = RequestBudget(parts.engine, counted(parts.settings), parts.clock)
    return budget.forecast(requests, every_s=parts.settings.sync.every_s)
