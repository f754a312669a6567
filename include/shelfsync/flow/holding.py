"""Holding a vendor: what works on its jobs does so under a lease, and stops without a word in the ledger when that is lost."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError

from shelfsync.flow.each_vendor import TAKEN_EVERY_S, Skip, Taken
from shelfsync.ledger.leases import LeaseLostError, leased

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.leases import Lease

log = logging.getLogger(__name__)


@contextlib.contextmanager
def holding(parts: Parts, vendor: str, *, patience_s: float = 0.0) -> Iterator[Lease]:
    """The vendor's lease. Taken when another process holds it all that time; Skip when one has taken it over as the block writes or ends in an error.

    What a process meets that woke up late (its connections dead, its answers gone) is not the vendor's failure, and is not noted.
    """
    with _leased(parts, vendor, patience_s) as lease:
        if lease is None:
            raise Taken
        try:
            with _said_late(parts, lease):
                yield lease
        except LeaseLostError as lost:
            log.warning("%s", lost)
            raise Skip(str(lost)) from lost


@contextlib.contextmanager
def _leased(parts: Parts, vendor: str, patience_s: float) -> Iterator[Lease | None]:
    until_s = parts.clock.monotonic_s() + patience_s
    while True:
        with leased(parts.engine, vendor, parts.settings.sync.lease_s) as lease:
            if lease is not None or parts.clock.monotonic_s() >= until_s:
                yield lease
                return
        parts.clock.sleep(TAKEN_EVERY_S)


@contextlib.contextmanager
def _said_late(parts: Parts, lease: Lease) -> Iterator[None]:
    """An error of who no longer holds the lease is that it was lost."""
    try:
        yield
    except (Skip, LeaseLostError, DBAPIError):
        raise
    except Exception:
        lease.renew(parts.engine)
        raise


class HeldBody:
    """The chunks of a request body, which never become whole unless the lease is still held when the last of them leaves."""

    def __init__(self, chunks: Iterable[bytes], parts: Parts, lease: Lease) -> None:
        self._chunks = chunks
        self._parts = parts
        self._lease = lease

    def __iter__(self) -> Iterator[bytes]:
        self._lease.renew(self._parts.engine)
        yield from self._chunks
        self._lease.renew(self._parts.engine)  # the client keeps the last chunk until this has returned
