"""What a maintainer needs to judge an installation, gathered into one document without secrets and personal data.

A part that fails is in the document as its error: an installation that is broken is the one that needs it.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.alerts.steps import lists
from shelfsync.catalog.steps import run_history
from shelfsync.check import check, warnings
from shelfsync.errors import in_one_line
from shelfsync.invisible_characters import plain
from shelfsync.secret_mask import MASK, mask
from shelfsync.settings.reading import shown_settings
from shelfsync.store.metadata import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from sqlalchemy.engine import Engine

    from shelfsync.context import Context

KIND = "shelfsync doctor"
_PACKAGES = (
    "shelfsync",
    "apache-airflow",
    "sqlalchemy",
    "psycopg",
    "alembic",
    "pyarrow",
    "pandas",
    "httpx",
    "pydantic",
    "fastapi",
    "apprise",
)
_RUNS, _ALERTS_MAX, _STATEMENTS = 20, 100, 15
_LOGS, _LOG_BYTES = 12, 16_384
_PERSONAL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+|\+\d[\d ()/-]{6,}\d")
"""Mail addresses and telephone numbers. No log of shelfsync has one; a line of another program may."""
_BY = re.compile(r" by .*")
_SERVER = sa.text(
    "SELECT version() AS server, pg_database_size(current_database()) AS bytes,"
    " to_regclass('shelfsync_revision') IS NULL AS is_empty"
)
_TABLES = sa.text(
    "SELECT n.nspname || '.' || c.relname AS table, coalesce(s.n_live_tup, 0) AS rows, pg_total_relation_size(c.oid) AS bytes,"
    " s.last_autovacuum, s.n_dead_tup AS dead FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
    " LEFT JOIN pg_stat_user_tables AS s ON s.relid = c.oid WHERE n.nspname = ANY(:schemas) AND c.relkind = 'r' ORDER BY bytes DESC"
)
_STATES = {
    "jobs": "SELECT kind || ' ' || state AS state, count(*) AS count FROM ledger.job GROUP BY 1 ORDER BY 1",
    "holds": "SELECT subject || ' ' || state AS state, count(*) AS count FROM ledger.hold GROUP BY 1 ORDER BY 1",
    "orders": "SELECT status AS state, count(*) AS count FROM ledger.customer_order GROUP BY 1 ORDER BY 1",
    "picking results": "SELECT state, count(*) AS count FROM ledger.picking_result GROUP BY 1 ORDER BY 1",
}
_SESSIONS = sa.text(  # no text of a statement: a person's may quote a customer
    "SELECT application_name, state, wait_event_type, wait_event, count(*) AS sessions,"
    " max(extract(epoch FROM clock_timestamp() - xact_start))::bigint AS oldest_transaction_s"
    " FROM pg_stat_activity WHERE datname = current_database() GROUP BY 1, 2, 3, 4 ORDER BY 1, 2"
)
_SLOWEST = sa.text(  # its constants are $1, $2, …
    "SELECT left(query, 300) AS statement, calls, round(total_exec_time) AS total_ms, round(max_exec_time) AS longest_ms"
    " FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND query ~* '^\\s*(select|insert|update|delete|merge|with)' ORDER BY total_exec_time DESC LIMIT :most"
)


_WHO = sa.text(
    "SELECT who FROM ledger.switch UNION SELECT decided_by FROM ledger.decision UNION SELECT who FROM ledger.restoration"
    " UNION SELECT who FROM ledger.alert_mute UNION SELECT acknowledged_by FROM ledger.alert WHERE acknowledged_by IS NOT NULL"
)


def gathered(
    home: Path,
    opened: Callable[[], AbstractContextManager[Context]],
    database: Callable[[], AbstractContextManager[tuple[Engine, Any]]],
) -> dict[str, Any]:
    """The document: versions, settings, result of `check`, sizes, states, runs, alerts, sessions, and the ends of logs under `home`.

    `database` opens it whatever its revision is. While nobody knows the persons' names, each text ends at the word "by".
    """
    found: dict[str, Any] = {
        "kind": KIND,
        "format": 1,
        "made_at": dt.datetime.now(dt.UTC).isoformat(),
        "versions": _part(_versions),
        "settings": _part(shown_settings),
    }
    persons: Collection[str] | None = None
    try:
        with database() as (engine, _):
            found["database"] = _part(lambda: _database(engine))
            persons = _persons(engine)
    except Exception as error:  # noqa: BLE001  whatever fails is what the file is for
        found["persons"] = {"error": in_one_line(error)}
    try:
        with opened() as context:
            found["check"] = _part(lambda: {"problems": check(context), "warnings": warnings(context)})
            found["runs"] = _part(lambda: run_history.listed(context, limit=_RUNS))
            found["alerts"] = _part(lambda: [_without_persons(row) for row in lists.listed(context)[:_ALERTS_MAX]])
    except Exception as error:  # noqa: BLE001  whatever fails is what the file is for
        found["context"] = {"error": in_one_line(error)}
    found["logs"] = _part(lambda: dict(_log_ends(home)))
    clean: dict[str, Any] = cleaned(found, persons)
    return clean


def cleaned(value: Any, persons: Collection[str] | None = None) -> Any:
    """The same without secrets of the settings, mail addresses, telephone numbers, and the names of `persons` after the word "by".

    None: their names are unknown, so nothing that follows the word is kept.
    """
    if isinstance(value, dict):
        return {cleaned(name, persons): cleaned(one, persons) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(one, persons) for one in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    text = _PERSONAL.sub(MASK, mask(str(value)))
    if persons is None:
        return _BY.sub(f" by {MASK}", text)
    for person in persons:
        text = text.replace(f" by {person}", f" by {MASK}")
    return text


def _part(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except Exception as error:  # noqa: BLE001  whatever fails is what the file is for
        return {"error": in_one_line(error)}


def _versions() -> dict[str, str]:
    found = {"python": sys.version.split()[0], "machine": platform.platform()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _database(engine: Engine) -> dict[str, Any]:
    def rows(statement: sa.TextClause, **values: Any) -> list[dict[str, Any]]:
        with engine.connect() as connection:  # one each: a failed statement ends its transaction
            return [dict(row) for row in connection.execute(statement, values).mappings()]

    about = _part(lambda: rows(_SERVER)[0])
    if about.pop("is_empty", False):
        return {**about, "tables": "none of shelfsync; `shelfsync check` makes them"}
    return {
        **about,
        **_part(lambda: rows(sa.text("SELECT version_num AS revision FROM shelfsync_revision"))[0]),
        "tables": _part(lambda: rows(_TABLES, schemas=list(SCHEMAS))),
        **{name: _part(lambda text=text: rows(sa.text(text))) for name, text in _STATES.items()},  # type: ignore[misc]
        "sessions": _part(lambda: rows(_SESSIONS)),
        "slowest statements": _part(lambda: rows(_SLOWEST, most=_STATEMENTS)),
    }


def _persons(engine: Engine) -> list[str]:
    """Everybody who decided something, the longest name first: one may begin with another. Without tables nobody has."""
    with engine.connect() as connection:
        if connection.execute(_SERVER).one().is_empty:
            return []
        return sorted(connection.execute(_WHO).scalars(), key=len, reverse=True)


def _without_persons(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "acknowledged_by"}


def _log_ends(home: Path) -> Iterator[tuple[str, list[str]]]:
    """The last lines of the newest logs."""
    changed: dict[Path, float] = {}
    for file in (home / "logs").rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # it is rotated meanwhile
            if file.is_file() and not file.is_symlink():
                changed[file] = file.stat().st_mtime
    for file in sorted(changed, key=changed.__getitem__, reverse=True)[:_LOGS]:
        try:
            with file.open("rb") as opened:
                size = opened.seek(0, 2)
                opened.seek(max(size - _LOG_BYTES, 0))
                text = opened.read().decode("utf-8", "replace")
        except FileNotFoundError:
            continue
        # a cut secret is known by eight characters, so the first line, which may have less of one, is left out
        lines = text.splitlines()[1 if size > _LOG_BYTES else 0 :]
        yield file.relative_to(home).as_posix(), [plain(line) for line in lines] or ["(its last line is too long)"]
