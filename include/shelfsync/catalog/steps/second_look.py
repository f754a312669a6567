"""A second export after values were accepted too late to show in the first."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.catalog.ledger import exports as export_jobs
from shelfsync.catalog.warehouse.drift import too_young
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from shelfsync.context import Context


def later_look(context: Context, run_key: str) -> tuple[list[str], dt.datetime]:
    """The vendors with values that were accepted too late to show in these exports, and when an export shows them."""
    with context.engine.connect() as connection:
        found = export_jobs.of_run(connection, run_key)
        young = too_young(connection, [one.observation_id for one in found if one.observation_id is not None])
        now: dt.datetime = connection.execute(sa.select(instant())).scalar_one()
    return young, now + dt.timedelta(seconds=context.settings.drift.propagation_s)
