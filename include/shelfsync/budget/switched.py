"""The gate with the kill switch in it: a request that changes the platform looks at the switch last of all, when its slot has come.

A slot may be minutes away. Whoever looked before waiting for it would send one request after a person said stop.
"""

from __future__ import annotations

import contextlib
import contextvars
from typing import TYPE_CHECKING

from shelfsync.errors import ReadOnlyError, StoppedError
from shelfsync.ledger import switches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Engine

    from partner_api.gate import Gate

CHANGES = frozenset({"put_catalog", "create_products", "put_promotion"})
"""Operations that change what customers see. An order is no part of it: whoever has ordered is waiting, also while the catalog is paused."""

_vendors: contextvars.ContextVar[tuple[str, ...]] = contextvars.ContextVar("vendors", default=())


@contextlib.contextmanager
def sending_to(*vendors: str) -> Iterator[None]:
    """Says whom the requests of this block concern (`*`: every vendor), so that the switch of any of them stops them at the gate."""
    token = _vendors.set(vendors)
    try:
        yield
    finally:
        _vendors.reset(token)


class SwitchedGate:
    """Any gate, and behind it the switch: `admit` raises StoppedError for a change that a person has stopped."""

    def __init__(self, inner: Gate, engine: Engine, chain: str) -> None:
        self._inner = inner
        self._engine = engine
        self._chain = chain

    def admit(self, operation: str, lane: str) -> None:
        """Returns when the request may leave."""
        self._inner.admit(operation, lane)
        if operation not in CHANGES:
            return
        with self._engine.connect() as connection:
            stop = switches.of_vendors(switches.stops(connection), _vendors.get(), chain=self._chain)
        if stop is not None:
            self._inner.done(operation, lane, used=False)
            raise StoppedError(str(stop))

    def report(self, operation: str, status: int, retry_after_s: float | None, blocked: bool) -> None:
        """Passes the answer on."""
        self._inner.report(operation, status, retry_after_s, blocked)

    def done(self, operation: str, lane: str, used: bool) -> None:
        """Passes it on."""
        self._inner.done(operation, lane, used)


class ReadOnlyGate:
    """A gate that no change of the platform ever passes: what a plan is given."""

    def __init__(self, inner: Gate) -> None:
        self._inner = inner

    def admit(self, operation: str, lane: str) -> None:
        """Returns when a request that only reads may leave."""
        if operation in CHANGES:
            raise ReadOnlyError(f"{operation}: this process was opened to plan and may change nothing on the platform")
        self._inner.admit(operation, lane)

    def report(self, operation: str, status: int, retry_after_s: float | None, blocked: bool) -> None:
        """Passes the answer on."""
        self._inner.report(operation, status, retry_after_s, blocked)

    def done(self, operation: str, lane: str, used: bool) -> None:
        """Passes it on."""
        self._inner.done(operation, lane, used)
