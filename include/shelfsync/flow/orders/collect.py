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
from shelfsync.inbox.keep import keep
from shelfsync.orders.lines import COLUMNS, NEEDED, gathered
from shelfsync.orders.result import UnreadableResultError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.flow.house import Parts

log = logging.getLogger(__name__)

SQL = "SHELFSYNC_ORDERS__PICKING_SQL"
_ROWS_AT_ONCE = 10_000
_ROWS_MAX = 1_000_000
_TIMEOUT_S = 60.0


def collect(parts: Parts) -> dict[str, Any]:
    """`{"new", "known", "partial", "refused": {result_id: why}}`; nothing at all without a SELECT."""
    told: dict[str, Any] = {"new": 0, "known": 0, "partial": 0, "refused": {}}
    if parts.settings.orders.picking_sql is None:
        return told
    whole, partial = gathered(_rows(parts))
    told["partial"] = len(partial)
    for order_id, raw in whole:
        try:
            word = keep(parts.engine, order_id, raw, "table")
        except UnreadableResultError as error:
            log.error("collect: result %s of order %s: %s", raw.get("result_id"), order_id, error)  # noqa: TRY400
            told["refused"][str(raw.get("result_id"))] = str(error)
            continue
        if word == "other":
            why = f"came before with another content; a correction needs a result_id of its own (order {order_id})"
            told["refused"][str(raw.get("result_id"))] = why
        else:
            told[word] += 1
    return told


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
