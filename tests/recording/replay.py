"""Puts a recorded ledger into an empty database, as if it had been left a moment ago."""

from __future__ import annotations

import datetime as dt
import json
import re
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from alembic import command

from recording.story import LEDGERS
from shelfsync import migrations
from shelfsync.warehouse import partitions

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

INSTANT = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?[+-]\d\d:\d\d$")
IDENTITIES = """
SELECT a.attrelid::regclass::text, a.attname FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
WHERE a.attidentity <> '' AND c.relnamespace::regnamespace::text = ANY(:schemas) AND c.relkind IN ('r', 'p')
"""


def restore(engine: Engine, revision: str) -> None:
    """Tables of that revision with the rows recorded, all times moved to the present; not upgraded yet."""
    ledger = json.loads((LEDGERS / revision / "ledger.json").read_text("utf-8"))
    config = migrations._config()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    now = dt.datetime.now(dt.UTC)
    passed = now - dt.datetime.fromisoformat(ledger["recorded_at"])
    with engine.begin() as connection:
        connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
        for table, rows in ledger["tables"].items():
            _make_room(connection, table, now)
            insert = sa.text(
                f"INSERT INTO {table} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_record(NULL::{table}, :row)"
            )
            for row in rows:
                connection.execute(
                    insert, {"row": json.dumps({key: _moved(value, passed) for key, value in row.items()})}
                )
        connection.execute(sa.text("SELECT setval('ledger.generation', :last)"), {"last": ledger["generation"]})
        _count_on(connection)


def _make_room(connection: Connection, table: str, now: dt.datetime) -> None:
    name = table.removeprefix("warehouse.")
    kind = connection.execute(sa.text("SELECT relkind FROM pg_class WHERE oid = to_regclass(:name)"), {"name": table})
    if kind.scalar_one() == "p":
        for at in (now - dt.timedelta(hours=1), now):
            partitions.ensure(connection, name, at)


def _moved(value: Any, passed: dt.timedelta) -> Any:
    if isinstance(value, str) and INSTANT.match(value):
        return (dt.datetime.fromisoformat(value) + passed).isoformat()
    return value


def _count_on(connection: Connection) -> None:
    """The next numbers are behind those of the rows."""
    for table, column in connection.execute(sa.text(IDENTITIES), {"schemas": ["ledger", "inbox", "warehouse"]}).all():
        connection.exec_driver_sql(
            f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), coalesce(max({column}), 0) + 1, false) FROM {table}"
        )
