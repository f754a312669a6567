"""Records the ledger of the version at hand."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import sqlalchemy as sa

from recording.story import CHAIN, LEDGERS, PASSED_OVER, SCHEMAS, live
from sandbox_fixture import LiveSandbox
from shelfsync.ledger.engine import create_engine
from shelfsync.migrations import upgrade
from shelfsync.settings import Settings
from shelfsync.stack.postgres import EmbeddedPostgres
from shelfsync.wiring import open_house
from small_erp import SQL, SmallErp

TABLES = """
SELECT n.nspname || '.' || c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = ANY(:schemas) AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1
"""


def rows(connection: sa.Connection) -> dict[str, list[object]]:
    """Table -> rows as JSON, tables without any left out."""
    tables = connection.execute(sa.text(TABLES), {"schemas": list(SCHEMAS)}).scalars().all()
    found = {
        table: connection.exec_driver_sql(f"SELECT row_to_json(t) FROM {table} AS t").scalars().all()
        for table in tables
        if table not in PASSED_OVER
    }
    return {table: list(lines) for table, lines in found.items() if lines}


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="shelfsync-recording-") as folder, LiveSandbox() as platform:
        home = Path(folder)
        home.chmod(0o711)  # PostgreSQL runs as a user of its own where we are root
        with EmbeddedPostgres(home / "server").in_use() as dsn:
            upgrade(engine := create_engine(dsn))
            erp = SmallErp(home / "erp.sqlite")
            settings = Settings(
                home=home / "home",
                database_url=dsn,
                lake_url=str(home / "lake"),
                platform={
                    "base_url": platform.base_url,
                    "chain": CHAIN,
                    "client_id": platform.client_id,
                    "client_secret": platform.client_secret,
                },
                erp={"url": erp.url, "sql": SQL},
                sync={"poll_first_s": 0.05, "poll_max_s": 0.2, "job_deadline_s": 86_400},
                budget={"requests_per_minute": 60_000},
            )
            with open_house(settings) as house:
                live(house, platform, erp)
            with engine.connect() as connection:
                revision = connection.exec_driver_sql("SELECT version_num FROM public.shelfsync_revision").scalar_one()
                ledger = {
                    "recorded_at": connection.exec_driver_sql("SELECT to_json(now())").scalar_one(),
                    "generation": connection.exec_driver_sql("SELECT last_value FROM ledger.generation").scalar_one(),
                    "tables": rows(connection),
                }
            engine.dispose()
        target = LEDGERS / revision
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(home / "lake", target / "lake")
        (target / "ledger.json").write_text(json.dumps(ledger, indent=1, sort_keys=True) + "\n", "utf-8")
        print(f"recorded revision {revision}: {sum(map(len, ledger['tables'].values()))} rows in {target}")


if __name__ == "__main__":
    main()
