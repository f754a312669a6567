"""hand_over: delivers new and cancelled orders and the outcomes of picking results to stores, at least once, oldest first.

A run has a time limit: a store whose system hangs delays neither other stores nor picking results.
"""

from __future__ import annotations

import contextlib
import logging
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from partner_api.errors import InvalidRequestError, NotFoundError, PartnerError, UnexpectedAnswerError
from shelfsync.errors import DataError, ShelfsyncError
from shelfsync.orders.customer_for_store import customer_for_store
from shelfsync.orders.document import document
from shelfsync.orders.encryption import CustomerCipher
from shelfsync.orders.hand_over_channel import Document
from shelfsync.orders.ledger import handovers, not_handed_over, orders, picking
from shelfsync.orders.order_state import as_json
from shelfsync.orders.steps.apply import current
from shelfsync.orders.steps.hand_over_channels import open_channel
from shelfsync.orders.steps.read_back import read_back
from shelfsync.orders.warehouse.record import encrypted_customer
from shelfsync.settings.orders import RETRY_MAX_S
from shelfsync.store.engine import reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Connection

    from partner_api.session import Clock
    from shelfsync.context import Context
    from shelfsync.orders.hand_over_channel import HandOverChannel
    from shelfsync.orders.ledger.handovers import HandOver

log = logging.getLogger(__name__)

AT_ONCE = 500
"""Attempts a run, and hand-overs a query. The next run starts within a minute."""
_OF_ONE_ORDER = (NotFoundError, InvalidRequestError, UnexpectedAnswerError, DataError)
_RUN_S = 60.0
"""Seconds for a run. The next one starts within a minute, and picking results are sent after it."""
_LOST_S = 30.0
"""Seconds of failed calls in a run. Beyond them, the channel itself is probably broken."""
_LOST_BY_STORE_S = 10.0
"""Seconds of failed calls of one store in a run."""


class TimeLimit:
    """Counts time, not failures: an immediate rejection costs nothing, and may concern only one document."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ends_s = clock.monotonic_s() + _RUN_S
        self._lost_s: defaultdict[str, float] = defaultdict(float)

    def has_time(self) -> bool:
        """Whether this run may make another call."""
        return self._clock.monotonic_s() < self._ends_s and not self.is_used_up_by_failures()

    def is_used_up_by_failures(self) -> bool:
        """Whether failed calls have used up their time in this run."""
        return sum(self._lost_s.values()) >= _LOST_S

    def has_time_for(self, vendor: str | None) -> bool:
        """Whether this run may call this store again."""
        return self._lost_s[vendor or ""] < _LOST_BY_STORE_S

    @contextlib.contextmanager
    def calling(self, vendor: str | None) -> Iterator[None]:
        """Use it around each call. Its duration counts if the call fails."""
        began_s = self._clock.monotonic_s()
        try:
            yield
        except Exception:
            self._lost_s[vendor or ""] += self._clock.monotonic_s() - began_s
            raise


def hand_over(context: Context, *, at_once: int = AT_ONCE) -> dict[str, Any]:
    """Plans and writes the documents for stores, and records which ones the stores have taken.

    Returns `{"planned", "written", "taken", "dropped", "left", "failed": {hand_over_id: why}}`. A failed document stops no other.
    `left`: documents that were due and not tried, mostly because of the `TimeLimit`. The next run goes on with them.
    """
    counts: dict[str, Any] = {"planned": 0, "written": 0, "taken": 0, "dropped": 0, "left": 0, "failed": {}}
    time_limit = TimeLimit(context.clock)
    channel = open_channel(context.settings)
    if channel is None:
        return counts
    try:
        _request_vendors(context)
        with context.engine.begin() as connection:
            late_hours = context.settings.orders.late_hours
            counts["planned"] = handovers.plan(connection, late_hours=late_hours)
            counts["dropped"] = not_handed_over.drop_closed(connection) + not_handed_over.drop_late(
                connection, late_hours=late_hours
            )
        _write_all(context, channel, time_limit, counts, at_once)
        if not time_limit.is_used_up_by_failures():
            counts["taken"] = _find_taken(context, channel, at_once)
    finally:
        channel.close()
    return counts


def _write_all(
    context: Context, channel: HandOverChannel, time_limit: TimeLimit, counts: dict[str, Any], at_once: int
) -> None:
    """Writes the oldest first. Documents of a store that hangs are skipped, so they delay no other store."""
    tried, behind, is_more = 0, 0, True
    while is_more and tried < at_once and time_limit.has_time():
        with context.engine.connect() as connection:
            waiting = handovers.due(connection, at_most=at_once, behind=behind)
        is_more = len(waiting) == at_once
        for handover in waiting:
            behind = handover.hand_over_id
            if tried >= at_once or not time_limit.has_time() or not time_limit.has_time_for(handover.vendor):
                counts["left"] += 1
                continue
            tried += 1
            try:
                counts["written"] += _write(context, channel, time_limit, handover)
            except Exception as error:  # noqa: BLE001  one document stops no other, whatever it raises
                counts["failed"][str(handover.hand_over_id)] = why = reason(error)
                log.warning("hand_over: order %s: %s", handover.order_id, why)
                with context.engine.begin() as connection:
                    handovers.postpone(connection, handover.hand_over_id, why, after_s=_pause_s(context, handover))
    if counts["left"]:
        log.warning(
            "hand_over: %d documents are left for the next run: the time limit of this run is reached", counts["left"]
        )


def _request_vendors(context: Context) -> None:
    """Reads open orders without a vendor back from the platform, until it reports their vendor.

    If the platform does not know an order, or its answer is unreadable, only this order waits. Any other failure ends the
    requests of this run.
    """
    with context.engine.connect() as connection:
        order_ids = handovers.without_vendor(connection, again_after_s=RETRY_MAX_S, at_most=AT_ONCE)
    for order_id in order_ids:
        try:
            read_back(context, order_id)
        except Exception as error:  # noqa: BLE001  one order stops no other, whatever it raises
            why = reason(error)
            log.warning("hand_over: order %s names no store, and the read-back failed: %s", order_id, why)
            its_own = isinstance(error, _OF_ONE_ORDER) or not isinstance(error, PartnerError | ShelfsyncError)
            with context.engine.begin() as connection:
                orders.record_missing_vendor(connection, order_id, again_after_s=RETRY_MAX_S if its_own else 0)
            if not its_own:
                return


def _write(context: Context, channel: HandOverChannel, time_limit: TimeLimit, handover: HandOver) -> bool:
    """Writes one document; True if the store can see it now. A new order is read back first."""
    if (
        handover.kind == "new"
        and handover.attempts == 0
        and context.settings.orders.read_new
        and not handover.read_lately
    ):
        read_back(context, handover.order_id)
    with context.engine.begin() as connection:
        not_handed_over.drop_closed(connection)
        if not handovers.begin_attempt(connection, handover.hand_over_id, again_after_s=_pause_s(context, handover)):
            return False
        to_write = _document(context, connection, handover)
    with time_limit.calling(handover.vendor):
        taken = channel.write(to_write)
    with context.engine.begin() as connection:
        handovers.mark_written(connection, handover.hand_over_id, taken=taken)
    return True


def _document(context: Context, connection: Connection, handover: HandOver) -> Document:
    now = current(connection, handover.order_id)
    assert now is not None, "an order with a hand-over has a version"
    if handover.kind == "reply":
        number = {"hand_over_id": handover.hand_over_id, "vendor": now.vendor, "order_code": now.order_code}
        content = picking.reply(connection, handover.result_no) | number
    else:
        settings = context.settings.orders
        personal = (
            CustomerCipher(settings).decrypt(encrypted_customer(connection, handover.order_id))
            if settings.hand_over_customer
            else {}
        )
        content = document(
            now,
            handover.kind,
            handover.hand_over_id,
            customer_for_store(now, personal) if handover.kind == "new" else {},
        )
    return Document(handover.hand_over_id, handover.order_id, handover.kind, now.vendor or "", as_json(content))


def _find_taken(context: Context, channel: HandOverChannel, at_once: int) -> int:
    """Checks all written documents, in parts. Documents that a store never takes do not hide others."""
    taken, behind, is_more = 0, 0, True
    while is_more:
        with context.engine.connect() as connection:
            written = handovers.written(connection, at_most=at_once, behind=behind)
        if not written:
            break
        behind, is_more = written[-1].hand_over_id, len(written) == at_once
        try:
            numbers = channel.taken(
                [(handover.hand_over_id, handover.vendor or "", handover.kind) for handover in written]
            )
        except ShelfsyncError as error:
            log.warning("hand_over: what stores have taken cannot be seen: %s", error)
            break
        with context.engine.begin() as connection:
            taken += handovers.mark_taken(connection, numbers)
    return taken


def _pause_s(context: Context, handover: HandOver) -> float:
    return context.settings.orders.retry_after_s(max(handover.attempts, handover.postponements))
