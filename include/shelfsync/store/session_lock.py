"""Session locks of PostgreSQL: the server frees them when their session ends, however its process dies."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

log = logging.getLogger(__name__)


def unlock(session: Connection, function: str, *, kind: int, number: int) -> None:
    """Gives a session lock back; `function` is PostgreSQL's. If that fails, the session leaves the pool, and the server frees its locks."""
    try:
        session.execute(sa.text(f"SELECT {function}(:kind, :number)"), {"kind": kind, "number": number})
    except DBAPIError as error:
        log.debug("lock %d of kind %d: the session is gone: %s", number, kind, type(error.orig).__name__)
        session.invalidate()
