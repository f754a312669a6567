"""Work on the jobs of a vendor needs its lease. After the loss of the lease the work stops and writes nothing to the ledger."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

from shelfsync.platform.jobs.job import database_is_away
from shelfsync.vendors.lease import LeaseLostError, leased
from shelfsync.vendors.step_report import Skip, Taken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.context import Context
    from shelfsync.vendors.lease import Lease

log = logging.getLogger(__name__)

TAKEN_WAIT_S = 60.0
"""How long a step waits for vendors that another process works on, after the other vendors."""
TAKEN_EVERY_S = 1.0


@contextlib.contextmanager
def holding(context: Context, vendor: str, *, wait_s: float = 0.0) -> Iterator[Lease]:
    """The vendor's lease. Raises Taken if another process holds it for `wait_s`, and Skip if another process took it over.

    Errors of a process that slept too long (dead connections, lost responses) are no failure of the vendor and are not recorded.
    """
    with _leased(context, vendor, wait_s) as lease:
        if lease is None:
            raise Taken
        try:
            with _lost_lease_first(context, lease):
                yield lease
        except LeaseLostError as lost:
            log.warning("%s", lost)
            raise Skip(str(lost)) from lost


@contextlib.contextmanager
def _leased(context: Context, vendor: str, wait_s: float) -> Iterator[Lease | None]:
    until_s = context.clock.monotonic_s() + wait_s
    while True:
        with leased(context.engine, vendor, context.settings.sync.lease_s) as lease:
            if lease is not None or context.clock.monotonic_s() >= until_s:
                yield lease
                return
        context.clock.sleep(TAKEN_EVERY_S)


@contextlib.contextmanager
def _lost_lease_first(context: Context, lease: Lease) -> Iterator[None]:
    """Turns any error into LeaseLostError if the lease is lost.

    A database that is away is not asked for the lease: that error stops the whole step and is no failure of the vendor.
    """
    try:
        yield
    except (Skip, LeaseLostError):
        raise
    except Exception as error:
        if not database_is_away(error):
            lease.renew(context.engine)
        raise
