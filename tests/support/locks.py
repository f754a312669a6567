"""Waits until a process of the test waits for a lock of another one, so that two transactions meet in a certain sequence."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import sqlalchemy as sa

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

_WAITING = sa.text(
    "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())"
)


def wait_for_a_lock(engine: Engine, deadline_s: float = 20.0) -> None:
    """Returns when one waits."""
    end = time.monotonic() + deadline_s
    while True:
        with engine.connect() as connection:
            if connection.execute(_WAITING).scalar_one():
                return
        assert time.monotonic() < end, "no process waits for a lock"
        time.sleep(0.02)
