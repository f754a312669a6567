"""Saves the state of a database, also of one that another version made: it reads the columns that are there."""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import uuid
import zipfile
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.errors import DataError
from shelfsync.saved_state.manifest import MANIFEST, MANIFEST_BYTES_MAX, SEQUENCE_SCHEMAS, Manifest, Table
from shelfsync.saved_state.parts import FILES, NEEDED, PARTS, Part, member
from shelfsync.store.engine import reached
from shelfsync.store.lake import LostFileError
from shelfsync.warehouse.every_table import metadata

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy.engine import Connection, Engine

    from shelfsync.store.lake import Lake

_LINES_A_READ = 5000
_UNFINISHED = {
    "open jobs": ("ledger.job", "row.kind <> 'export' AND row.state IN ('submitting', 'open', 'confirmed')"),
    "waiting events of orders": ("inbox.event", "row.kind = 'order' AND row.processed_at IS NULL"),
}
"""What the new database would not know: its outcome, or that it came."""
_FINISHED_BY = {"open jobs": "`shelfsync recover`", "waiting events of orders": "the DAG orders_fulfilment"}
_GOING_ON = {
    "running runs": ("ledger.run", "row.state = 'running' AND NOT row.dry_run"),
    "waiting picking results": ("ledger.picking_result", "row.state IN ('waiting', 'sending', 'answered')"),
}
"""What an old installation that is not stopped goes on with. The results are in the file, and the new database sends them, too."""
_PAUSED = sa.text(
    "SELECT EXISTS (SELECT FROM (SELECT DISTINCT ON (row.scope, row.name) row.stopped FROM ledger.switch AS row WHERE row.scope <> 'vendor'"
    " ORDER BY row.scope, row.name, row.switch_id DESC) AS newest WHERE newest.stopped)"
)
"""The whole chain is."""


def save(engine: Engine, lake: Lake, path: Path, *, chain: str | None, unfinished: bool = False) -> Manifest:
    """Writes the state to `path`.

    It reads one snapshot of the database, row by row, and changes nothing. A DataError if a job is open or an event of an order waits,
    unless `unfinished`.
    """
    with reached(engine) as connection:
        connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        connection.execute(sa.text("SET LOCAL idle_in_transaction_session_timeout = 0"))  # files are copied meanwhile
        found = _columns(connection)
        left = _counts(connection, found, _UNFINISHED)
        if left and not unfinished:
            what = " and ".join(f"{count} {name}" for name, count in left.items())
            by = " and ".join(_FINISHED_BY[name] for name in left)
            raise DataError(
                f"state save: {what}: a new database would not know their end, so nothing was saved. Pause, let the version that made"
                f" this database finish them ({by}), or add --unfinished: `shelfsync state load` names what is due then"
            )
        revision = connection.execute(sa.text("SELECT version_num FROM public.shelfsync_revision")).scalar_one_or_none()
        present = [part for part in PARTS if part.table in found]
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            members = _Members(archive)
            tables = {part.table: _rows(connection, members, part, found[part.table]) for part in present}
            files, missing = _files(connection, lake, members, present, found)
            manifest = Manifest(
                state_id=str(uuid.uuid4()),
                saved_at=dt.datetime.now(dt.UTC),
                version=version("shelfsync"),
                revision=revision,
                chain=chain,
                paused="ledger.switch" in found and bool(connection.execute(_PAUSED).scalar_one()),
                unfinished=left,
                going_on=_counts(connection, found, _GOING_ON),
                absent=[part.table for part in PARTS if part.table not in found],
                tables=tables,
                files=files,
                missing=missing,
                sequences=_sequences(connection),
                sha256=members.sha256,
            )
            content = manifest.model_dump_json(indent=2)
            if len(content) > MANIFEST_BYTES_MAX:
                raise DataError(
                    f"state save: the list of {files:,} files has {len(content):,} bytes, and `shelfsync state load` reads {MANIFEST_BYTES_MAX:,};"
                    " move the database and the lake as they are (docs/how-to/backup.md)"
                )
            archive.writestr(MANIFEST, content)
    return manifest


@dataclass
class _Members:
    """Writes the members of the file, and knows the digest of each."""

    archive: zipfile.ZipFile
    sha256: dict[str, str] = field(default_factory=dict)

    @contextlib.contextmanager
    def writing(self, member: str | zipfile.ZipInfo) -> Iterator[Callable[[bytes], None]]:
        digest = hashlib.sha256()
        with self.archive.open(member, "w", force_zip64=True) as file:

            def write(content: bytes) -> None:
                digest.update(content)
                file.write(content)

            yield write
        self.sha256[member if isinstance(member, str) else member.filename] = digest.hexdigest()


def _columns(connection: Connection) -> dict[str, list[str]]:
    """Table -> its columns without the computed ones, as the database has them."""
    rows = connection.execute(
        sa.text(
            "SELECT table_schema || '.' || table_name AS name, column_name FROM information_schema.columns"
            " WHERE table_schema IN ('ledger', 'inbox', 'warehouse') AND is_generated = 'NEVER' ORDER BY name, ordinal_position"
        )
    )
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row.name, []).append(row.column_name)
    if "ledger.vendor" not in found:
        raise DataError(
            "state save: SHELFSYNC_DATABASE_URL names a database without tables of shelfsync, so there is no state in it."
            " Name the database whose state you want"
        )
    return found


def _counts(connection: Connection, found: dict[str, list[str]], asked: dict[str, tuple[str, str]]) -> dict[str, int]:
    """How many rows there are of each, without those of which there are none."""
    counts = {
        what: int(connection.execute(sa.text(f"SELECT count(*) FROM {table} AS row WHERE {where}")).scalar_one())  # noqa: S608  constants of ours
        for what, (table, where) in asked.items()
        if table in found
    }
    return {what: count for what, count in counts.items() if count}


def _rows(connection: Connection, members: _Members, part: Part, columns: list[str]) -> Table:
    taken = [name for name in columns if name not in part.begun_anew]
    listed = ", ".join(f'row."{name}"' for name in taken)
    statement = (
        f"SELECT row_to_json(line)::text FROM (SELECT {listed} FROM {part.table} AS row WHERE {part.where}) AS line"  # noqa: S608
    )
    count = 0
    with members.writing(member(part.table)) as write:
        result = connection.execution_options(yield_per=_LINES_A_READ).execute(sa.text(statement))
        for some in result.scalars().partitions(_LINES_A_READ):
            write("".join(f"{line}\n" for line in some).encode())
            count += len(some)
    return Table(rows=count, columns=taken)


def _files(
    connection: Connection, lake: Lake, members: _Members, parts: list[Part], found: dict[str, list[str]]
) -> tuple[int, int]:
    """How many files were copied, and how many the lake does not have any more."""
    selects = [
        f"SELECT row.{column.name} AS path, {part.table == NEEDED} AS needed FROM {part.table} AS row WHERE {part.where}"  # noqa: S608
        for part in parts
        for column in metadata.tables[part.table].columns
        if "lake" in column.info and column.name in found[part.table]
    ]
    statement = f"SELECT path, bool_or(needed) AS needed FROM ({' UNION ALL '.join(selects)}) AS named WHERE path IS NOT NULL GROUP BY path"  # noqa: S608
    copied = missing = 0
    for row in connection.execution_options(yield_per=_LINES_A_READ).execute(sa.text(statement)):
        try:
            entry = zipfile.ZipInfo(f"{FILES}{row.path}")  # its content is compressed already
            with lake.open(row.path) as source, members.writing(entry) as write:
                while chunk := source.read(1 << 20):
                    write(chunk)
        except LostFileError:
            if row.needed:
                raise
            missing += 1
        else:
            copied += 1
    return copied, missing


def _sequences(connection: Connection) -> dict[str, int]:
    """Sequence -> its last number: those of the new database go on from there."""
    rows = connection.execute(
        sa.text(
            "SELECT schemaname || '.' || sequencename AS name, last_value FROM pg_sequences"
            " WHERE schemaname = ANY(:schemas) AND sequencename ~ '^[a-z0-9_]+$' AND last_value >= 0 ORDER BY name"
        ),
        {"schemas": list(SEQUENCE_SCHEMAS)},
    )
    return {row.name: int(row.last_value) for row in rows}
