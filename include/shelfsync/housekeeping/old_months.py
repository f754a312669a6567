"""Which months of the tables that grow by the month are dropped, each as a whole: those that ended more than so many months ago."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import psycopg
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from shelfsync.store.metadata import instant
from shelfsync.store.monthly_partitions import SCHEMA, month_in, month_of, months_later

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

log = logging.getLogger(__name__)

_DROP_WAIT_S = 5
"""The time that a DROP waits for its lock. Loads wait behind it."""


def drop_old_months(connection: Connection, *, months: int) -> list[str]:
    """Drops the partitions that ended more than so many whole months before the present one; their names.

    One that a transaction still reads stays until the next time: every load would wait behind a DROP that waits.
    """
    now = connection.execute(sa.select(instant())).scalar_one()
    oldest = months_later(month_of(now), -months)
    names = connection.execute(
        sa.text("SELECT tablename FROM pg_tables WHERE schemaname = :schema ORDER BY tablename"), {"schema": SCHEMA}
    ).scalars()
    old = [name for name in names if month_in(name) < oldest]
    return [name for name in old if _dropped(connection, name)]


def _dropped(connection: Connection, name: str) -> bool:
    try:
        with connection.begin_nested():  # its end gives the locks back, if the DROP failed
            connection.execute(sa.text(f"SET LOCAL lock_timeout = '{_DROP_WAIT_S}s'"))
            connection.execute(sa.text(f'DROP TABLE {SCHEMA}."{name}"'))
    except OperationalError as error:
        if not isinstance(error.orig, psycopg.errors.LockNotAvailable):
            raise
        log.warning(
            "warehouse: partition %s stays, because a transaction still reads its table; the next housekeeping drops it."
            " If this repeats, end that transaction (see pg_stat_activity)",
            name,
        )
        return False
    return True
