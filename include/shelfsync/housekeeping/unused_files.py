"""Files of the lake go when no row points to them.

Every column that holds a path of the lake declares it (`info=LAKE_FILE`). The sweep reads the declared tables, so a new table needs no entry
here.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.errors import DataError
from shelfsync.housekeeping.rules import NEWEST_SNAPSHOT
from shelfsync.store.metadata import instant
from shelfsync.warehouse.every_table import metadata

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.context import Context
    from shelfsync.store.lake import Lake, LakeFile

log = logging.getLogger(__name__)

_RECENT = f"""
updated_at > :recent
OR NOT (SELECT planning.dry_run FROM ledger.run AS planning WHERE planning.run_id = vendor_run.run_id) AND (
    state NOT IN ('acknowledged', 'unchanged', 'superseded', 'failed', 'busy')
    OR generation >= {NEWEST_SNAPSHOT.format(row="vendor_run")}
    OR EXISTS (SELECT 1 FROM ledger.hold WHERE hold.subject = 'catalog' AND hold.run_id = vendor_run.run_id AND hold.vendor = vendor_run.vendor AND hold.state = 'open'))
"""  # noqa: S608  constants of ours
_ONLY = {
    ("ledger.vendor_run", "raw_path"): _RECENT,
    ("ledger.vendor_run", "reported_path"): "missed IS NULL AND updated_at > :recent",
    ("ledger.vendor_run", "snapshot_path"): _RECENT,
    ("ledger.vendor_run", "erp_path"): _RECENT,
    ("ledger.batch", "snapshot_path"): "state IN ('planned', 'sent')",
    (
        "ledger.feed",
        "categories_path",
    ): "generation = (SELECT max(n.generation) FROM ledger.feed AS n WHERE n.vendor = feed.vendor"
    " AND n.categories_path IS NOT NULL)",
    (
        "ledger.feed",
        "unrestored_path",
    ): "generation = (SELECT max(n.generation) FROM ledger.feed AS n WHERE n.vendor = feed.vendor)",
}
"""Files of a whole vendor that only the newest rows need: elsewhere the path shows which content it is. One that is gone
counts as unknown for a later reader."""

FILES_A_QUESTION = 10_000
_USED = sa.table("used_path", sa.column("path", sa.Text))


@dataclass(frozen=True)
class Swept:
    """The files found and removed."""

    files: int
    removed: int
    removed_bytes: int


def sweep(context: Context, *, grace: dt.timedelta, recent: dt.timedelta, dry_run: bool = False) -> Swept:
    """Looks at every file of the lake, a folder of one vendor at a time; those in use, or younger than `grace`, stay.

    Raw rows and snapshots are in use for `recent` after their run, and as long as they are their vendor's newest; those of a dry run, which
    nothing is ever sent from, for `recent` alone.
    """
    before = context.clock.now() - grace
    files = removed = removed_bytes = 0
    with context.engine.connect() as connection:
        _mark(connection, recent)
        for folder in context.lake.folders():
            held = _held(context.lake, folder)
            files += len(held)
            old = [file for file in held if file.modified_at < before]
            for file in _unused(connection, old):
                if dry_run or _is_removed(context.lake, file, not_after=before):
                    removed += 1
                    removed_bytes += file.bytes
    removed += 0 if dry_run else context.lake.clear_staging(before)
    log.info("housekeeping: lake: %d files, %d removed (%d bytes)", files, removed, removed_bytes)
    return Swept(files, removed, removed_bytes)


def _held(lake: Lake, folder: str) -> list[LakeFile]:
    """None of a folder that cannot be read: it keeps no other from being swept."""
    try:
        return lake.files(folder)
    except (OSError, DataError) as error:
        log.warning("housekeeping: lake: the folder %s cannot be read: %s", folder, error)
        return []


def _is_removed(lake: Lake, file: LakeFile, *, not_after: dt.datetime) -> bool:
    try:
        return lake.remove(file.path, not_after=not_after)
    except (OSError, DataError) as error:
        log.warning("housekeeping: lake: %s cannot be removed: %s", file.path, error)
        return False


def path_columns() -> list[sa.Column[str]]:
    """Every column whose paths protect files of the lake."""
    return [column for table in metadata.sorted_tables for column in table.columns if column.info.get("lake")]


def needed_paths(connection: Connection, recent: dt.timedelta) -> list[sa.Select[str]]:
    """One SELECT a column, of each path once: an index over many equal ones takes hours to build."""
    cutoff = connection.execute(sa.select(instant() - recent)).scalar_one()
    selects = []
    for column in path_columns():
        only = sa.text(f"({_ONLY.get((column.table.fullname, column.name), 'true')})")
        if ":recent" in only.text:
            only = only.bindparams(recent=cutoff)
        selects.append(sa.select(column).where(column.is_not(None), only).distinct())
    return selects


def _mark(connection: Connection, recent: dt.timedelta) -> None:
    """Every path that any row points to, in a temporary table: on disk, for any number of paths."""
    connection.execute(sa.text("CREATE TEMPORARY TABLE IF NOT EXISTS used_path (path text) ON COMMIT PRESERVE ROWS"))
    connection.execute(sa.text("TRUNCATE used_path"))
    for paths in needed_paths(connection, recent):
        connection.execute(_USED.insert().from_select(["path"], paths))
    connection.execute(sa.text("CREATE INDEX IF NOT EXISTS used_path_path ON used_path USING hash (path)"))
    connection.commit()
    connection.execute(sa.text("ANALYZE used_path"))
    connection.commit()


def _unused(connection: Connection, files: Sequence[LakeFile]) -> Iterable[LakeFile]:
    question = sa.text(
        "SELECT asked.path FROM unnest(cast(:paths AS text[])) AS asked (path)"
        " WHERE NOT EXISTS (SELECT 1 FROM used_path WHERE used_path.path = asked.path)"
    )
    for start in range(0, len(files), FILES_A_QUESTION):
        some = files[start : start + FILES_A_QUESTION]
        unused = set(connection.execute(question, {"paths": [file.path for file in some]}).scalars())
        connection.commit()
        yield from (file for file in some if file.path in unused)
