"""collect: picking results from the store's database, by a SELECT, into the ledger.

It reads all rows of the SELECT and skips known results. There is no cursor: the next run finds a row that is committed late.
"""

from __future__ import annotations

import logging
import zoneinfo
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.alerts.ledger import alerts
from shelfsync.erp import database_message
from shelfsync.erp.session import Session
from shelfsync.errors import ConfigurationError, TryAgainError
from shelfsync.orders.ledger import picking
from shelfsync.orders.picking_result import UnreadableResultError
from shelfsync.orders.picking_table import ROW_COLUMNS, ROW_COLUMNS_NEEDED, gathered
from shelfsync.orders.steps.receive import Prepared, prepared, store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.context import Context

log = logging.getLogger(__name__)

PICKING_SQL = "SHELFSYNC_ORDERS__PICKING_SQL"
PICKING_URL = "SHELFSYNC_ORDERS__PICKING_URL"
_ROWS_AT_ONCE = 10_000
_ROWS_MAX = 200_000
"""The limit of rows in memory: some hundred megabytes."""
_RESULTS_AT_ONCE = 1_000
_ALARMS_MAX = 100
_TIMEOUT_S = 60.0


def collect(context: Context) -> dict[str, Any]:
    """Stores new results: `{"new", "known", "partial", "rejected": {result_id: why}, "alarms": [...]}`; all zero without a SELECT.

    A rejected result stays in the store's table and is one alarm. ConfigurationError: the SELECT is wrong. TryAgainError:
    the reading failed.
    """
    counts: dict[str, Any] = {"new": 0, "known": 0, "partial": 0, "rejected": {}, "alarms": []}
    if context.settings.orders.picking_sql is None:
        return counts | {"alarms": _alarms(context, {})}  # those of a table that was read before are over
    shown = gathered(_rows(context), zoneinfo.ZoneInfo(context.settings.time_zone))
    counts["partial"] = len(shown.partial)
    rejected = {(order_id, result_id): why for order_id, result_id, why in shown.broken}
    for first in range(0, len(shown.whole), _RESULTS_AT_ONCE):
        _store_new(context, shown.whole[first : first + _RESULTS_AT_ONCE], counts, rejected)
    counts["rejected"] = {result_id: why for (_, result_id), why in rejected.items()}
    counts["alarms"] = _alarms(context, rejected)
    return counts


def _store_new(
    context: Context,
    results: list[tuple[str, dict[str, Any]]],
    counts: dict[str, Any],
    rejected: dict[tuple[str, str], str],
) -> None:
    """Stores the unknown results. One query finds the known ones."""
    ready: list[Prepared] = []
    for order_id, raw in results:
        try:
            ready.append(prepared(order_id, raw))
        except UnreadableResultError as error:
            rejected[order_id, str(raw.get("result_id"))] = str(error)
    with context.engine.connect() as connection:
        stored = picking.digests(connection, [result.name for result in ready])
    for result in ready:
        status = "known" if stored.get(result.name) == result.digest else store(context.engine, result, "table")
        if status == "conflict":
            rejected[result.name] = (
                "its result_id belongs to another content; a correction needs a result_id of its own"
            )
        else:
            counts[status] += 1


def _alarms(context: Context, rejected: dict[tuple[str, str], str]) -> list[str]:
    """The messages of new alarms. A store that writes to a table gets no other answer about them."""
    alarms = {
        (
            "unreadable",
            f"{order_id}/{result_id}",
        ): f"result {result_id} of order {order_id} in the store's table is rejected: {why}"
        for (order_id, result_id), why in sorted(rejected.items())[:_ALARMS_MAX]
    }
    with context.engine.begin() as connection:
        new = [one.line for one in alerts.keep(connection, ("unreadable",), alarms).opened]
    for message in new:
        log.error("collect: %s", message)
    return new


def _rows(context: Context) -> Iterator[dict[str, Any]]:
    settings = context.settings
    sql = (settings.orders.picking_sql or "").strip().rstrip(";")
    url = settings.orders.picking_url or settings.erp.url
    if url is None:
        raise ConfigurationError(
            PICKING_URL, "is not set, and neither is the ERP's", "Name the database of the SELECT."
        )
    url_setting = database_message.URL if settings.orders.picking_url is None else PICKING_URL
    read_so_far = 0
    with Session.open(url.get_secret_value(), _TIMEOUT_S, url_setting) as session:
        try:
            for names, part in session.stream(sql, _ROWS_AT_ONCE):
                read_so_far += len(part)
                lower = _columns(names)
                yield from (dict(zip(lower, row, strict=True)) for row in part)
                if read_so_far > _ROWS_MAX:
                    raise ConfigurationError(
                        PICKING_SQL,
                        f"returns more than {_ROWS_MAX:,} rows",
                        "Let it return the results of the last days.",
                    )
        except sa.exc.SQLAlchemyError as error:
            if database_message.is_of_statement(error, session.url, read_so_far):
                raise database_message.statement_error(
                    error, session.url, PICKING_SQL, "the SELECT of picking results", url_setting
                ) from None
            why = database_message.why_broken_off(error, session.url)
            raise TryAgainError(
                f"reading the picking results of {database_message.place(session.url)} broke off after {read_so_far} rows: {why}. "
                "The next run reads them again"
            ) from None


def _columns(names: tuple[str, ...]) -> list[str]:
    lower = [name.lower() for name in names]
    missing = [name for name in ROW_COLUMNS_NEEDED if name not in lower]
    unknown = [name for name in lower if name not in ROW_COLUMNS]
    if missing or unknown:
        what = f"has no column {missing[0]!r}" if missing else f"has an unknown column {unknown[0]!r}"
        raise ConfigurationError(PICKING_SQL, what, f"The columns are {', '.join(ROW_COLUMNS)}.")
    return lower
