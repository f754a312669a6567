"""collect: picking results out of the store's database. All that the SELECT shows is read; what is known by its name is passed over.

There is no cursor: a row that is committed late is found by the next look, and a result is stored once, by its name.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.erp import diagnosis
from shelfsync.erp.session import Session
from shelfsync.errors import ConfigurationError, TryAgainError
from shelfsync.inbox.keep import prepared, store
from shelfsync.ledger import order_alarms, picking
from shelfsync.orders.lines import COLUMNS, NEEDED, gathered
from shelfsync.orders.result import UnreadableResultError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.flow.house import Parts
    from shelfsync.inbox.keep import Prepared

log = logging.getLogger(__name__)

SQL = "SHELFSYNC_ORDERS__PICKING_SQL"
_ROWS_AT_ONCE = 10_000
_ROWS_MAX = 200_000
"""They are gathered in memory, some hundred megabytes at most."""
_RESULTS_AT_ONCE = 1_000
_ALARMS_MAX = 100
_TIMEOUT_S = 60.0


def collect(parts: Parts) -> dict[str, Any]:
    """`{"new", "known", "partial", "refused": {result_id: why}, "alarms": [...]}`; nothing at all without a SELECT.

    What is refused stays in the store's table, and each is an alarm, once.
    """
    told: dict[str, Any] = {"new": 0, "known": 0, "partial": 0, "refused": {}, "alarms": []}
    if parts.settings.orders.picking_sql is None:
        return told
    shown = gathered(_rows(parts))
    told["partial"] = len(shown.partial)
    refused = {(order_id, result_id): why for order_id, result_id, why in shown.broken}
    for first in range(0, len(shown.whole), _RESULTS_AT_ONCE):
        _store(parts, shown.whole[first : first + _RESULTS_AT_ONCE], told, refused)
    told["refused"] = {result_id: why for (_, result_id), why in refused.items()}
    told["alarms"] = _alarms(parts, refused)
    return told


def _store(
    parts: Parts, results: list[tuple[str, dict[str, Any]]], told: dict[str, Any], refused: dict[tuple[str, str], str]
) -> None:
    """Stores those of the results that are not known, and passes over the others in one look."""
    ready: list[Prepared] = []
    for order_id, raw in results:
        try:
            ready.append(prepared(order_id, raw))
        except UnreadableResultError as error:
            refused[order_id, str(raw.get("result_id"))] = str(error)
    with parts.engine.connect() as connection:
        stored = picking.digests(connection, [one.name for one in ready])
    for one in ready:
        word = "known" if stored.get(one.name) == one.digest else store(parts.engine, one, "table")
        if word == "other":
            refused[one.name] = "it came before with another content; a correction needs a result_id of its own"
        else:
            told[word] += 1


def _alarms(parts: Parts, refused: dict[tuple[str, str], str]) -> list[str]:
    """Those that are new. A store that writes to a table hears of them by nobody else."""
    found = {
        (
            "unreadable",
            f"{order_id}/{result_id}",
        ): f"result {result_id} of order {order_id} in the store's table is not taken: {why}"
        for (order_id, result_id), why in sorted(refused.items())[:_ALARMS_MAX]
    }
    with parts.engine.begin() as connection:
        new = order_alarms.keep(connection, ("unreadable",), found)
    for message in new:
        log.error("collect: %s", message)
    return new


def _rows(parts: Parts) -> Iterator[dict[str, Any]]:
    settings = parts.settings
    sql = (settings.orders.picking_sql or "").strip().rstrip(";")
    url = settings.orders.picking_url or settings.erp.url
    if url is None:
        raise ConfigurationError(
            "SHELFSYNC_ORDERS__PICKING_URL", "is not set, and neither is the ERP's", "Name the database of the SELECT."
        )
    read_so_far = 0
    with Session.open(url.get_secret_value(), _TIMEOUT_S) as session:
        try:
            for names, part in session.stream(sql, _ROWS_AT_ONCE):
                read_so_far += len(part)
                lower = _columns(names)
                yield from (dict(zip(lower, row, strict=True)) for row in part)
                if read_so_far > _ROWS_MAX:
                    raise ConfigurationError(
                        SQL, f"returns more than {_ROWS_MAX:,} rows", "Let it return the results of the last days."
                    )
        except sa.exc.SQLAlchemyError as error:
            if not read_so_far and not diagnosis.timed_out(error):
                raise diagnosis.refused_statement(error, session.url, SQL, "the SELECT of picking results") from None
            raise TryAgainError("reading the picking results broke off; they are read again by the next run") from None


def _columns(names: tuple[str, ...]) -> list[str]:
    lower = [name.lower() for name in names]
    missing = [name for name in NEEDED if name not in lower]
    unknown = [name for name in lower if name not in COLUMNS]
    if missing or unknown:
        what = f"has no column {missing[0]!r}" if missing else f"has a column {unknown[0]!r} that nobody knows"
        raise ConfigurationError(SQL, what, f"The columns are {', '.join(COLUMNS)}.")
    return lower
