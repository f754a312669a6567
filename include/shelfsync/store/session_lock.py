"""Session locks of PostgreSQL: the server frees them when their session ends, however its process dies."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy.engine import Connection, Engine

log = logging.getLogger(__name__)


@contextlib.contextmanager
def alone(engine: Engine, *, kind: int, again: Callable[[], bool] = lambda: False) -> Iterator[bool]:
    """Whether this process alone has the lock of this kind until the block ends. No transaction is open meanwhile: the block may take long.

    `again` is called while another has it: it waits, and returns whether to try once more.
    """
    key = {"kind": kind, "number": 0}
    tried = sa.text("SELECT pg_try_advisory_lock(:kind, :number)")
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as session:
        while not (has_it := session.execute(tried, key).scalar_one()) and again():
            pass
        try:
            yield has_it
        finally:
            if has_it:
                unlock(session, "pg_advisory_unlock", **key)


def unlock(session: Connection, function: str, *, kind: int, number: int) -> None:
    """Gives a session lock back; `function` is PostgreSQL's. If that fails, the session leaves the pool, and the server frees its locks."""
    try:
        session.execute(sa.text(f"SELECT {function}(:kind, :number)"), {"kind": kind, "number": number})
    except DBAPIError as error:
        log.debug("lock %d of kind %d: the session is gone: %s", number, kind, type(error.orig).__name__)
        session.invalidate()
