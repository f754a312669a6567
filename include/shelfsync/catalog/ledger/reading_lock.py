"""One process at a time reads the ERP or its changes: a session lock ensures it, which the server frees when its process dies."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from shelfsync.errors import TryAgainError
from shelfsync.store.session_lock import alone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Engine

    from partner_api.session import Clock

_KIND = 7_402_514
"""First half of the lock's key: separates this lock from all others of the database."""
_EVERY_S = 1.0


@contextlib.contextmanager
def alone_reading(engine: Engine, clock: Clock, *, wait_s: float) -> Iterator[None]:
    """No other process reads the whole ERP or its changes until the block ends. Raises TryAgainError after `wait_s`."""
    until_s = clock.monotonic_s() + wait_s

    def waited() -> bool:
        if clock.monotonic_s() >= until_s:
            return False
        clock.sleep(_EVERY_S)
        return True

    with alone(engine, kind=_KIND, again=waited) as has_it:
        if not has_it:
            raise TryAgainError("another run is reading the ERP; this one reads after it", after_s=60)
        yield
