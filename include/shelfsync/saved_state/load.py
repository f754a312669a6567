"""Loads a saved state into an empty database: the whole file is read and checked before the first row, and one transaction writes all rows."""

from __future__ import annotations

import contextlib
import json
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from shelfsync.errors import DataError
from shelfsync.loaded_states import loaded_state
from shelfsync.saved_state.parts import FILES, FORMAT, KIND, MANIFEST, PARTS, Part, member
from shelfsync.store.engine import is_database_trouble, reason
from shelfsync.warehouse.every_table import metadata

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy.engine import Connection, Engine

    from shelfsync.store.lake import Lake

_LINES_A_STATEMENT = 2000
_CHUNK_BYTES = 1 << 20
_MANIFEST_MAX_BYTES = 1 << 24


@dataclass(frozen=True)
class Plan:
    """What loading writes: `rows` by table, and `notes` about what is not in the file or stays out."""

    manifest: dict[str, Any]
    rows: dict[str, int]
    columns: dict[str, list[str]]
    notes: list[str]


def checked(path: Path, *, chain: str | None) -> Plan:
    """Reads the whole file. A DataError: it is not whole, not of this kind or chain, or this version cannot load it."""
    with _opened(path) as archive:
        manifest = _manifest(path, archive, chain)
        names = {info.filename for info in archive.infolist()}
        notes = [f"{table}: the saved database had no such table" for table in manifest["absent"]]
        columns: dict[str, list[str]] = {}
        for part in PARTS:
            saved = manifest["tables"].get(part.table)
            if saved is None:
                continue
            columns[part.table] = _loaded_columns(path, part, saved["columns"], notes)
            lines = sum(1 for _ in _lines(archive, path, part.table)) if member(part.table) in names else -1
            if lines != saved["rows"]:
                raise _broken(path, f"{part.table} has {max(lines, 0)} rows of {saved['rows']}")
        files = [info for info in archive.infolist() if info.filename.startswith(FILES)]
        if len(files) != manifest["files"]:
            raise _broken(path, f"{len(files)} files of the lake of {manifest['files']}")
        for info in files:
            with archive.open(info) as file:
                while file.read(_CHUNK_BYTES):
                    pass
    notes += [f"{table}: this version has no such table" for table in manifest["tables"] if table not in columns]
    if manifest["missing"]:
        notes.append(f"{manifest['missing']} files of the lake had been removed when the state was saved")
    if manifest["unfinished"]:
        what = " and ".join(f"{count} {name}" for name, count in manifest["unfinished"].items())
        notes.append(f"{what} when it was saved: run `shelfsync sync --full` next")
    return Plan(manifest, {table: manifest["tables"][table]["rows"] for table in columns}, columns, notes)


def load(engine: Engine, lake: Lake, path: Path, plan: Plan, *, who: str, dry_run: bool = False) -> bool:
    """Writes the files to the lake, then all rows in one transaction. False: this file was loaded before, and nothing is done.

    A DataError if the database has rows, or rejects one of the file; then no row is written. With `dry_run` nothing is.
    """
    with _opened(path) as archive, engine.begin() as connection:
        connection.execute(sa.text("SET LOCAL idle_in_transaction_session_timeout = 0"))  # files are copied meanwhile
        tables = ", ".join(["ledger.loaded_state", "ledger.run", *(part.table for part in PARTS)])
        connection.execute(sa.text(f"LOCK TABLE {tables} IN SHARE ROW EXCLUSIVE MODE"))
        known = sa.select(loaded_state.c.loaded_at).where(loaded_state.c.state_id == plan.manifest["state_id"])
        if connection.execute(known).one_or_none() is not None:
            return False
        _require_empty(connection, path)
        if dry_run:
            return True
        for info in archive.infolist():
            if info.filename.startswith(FILES):
                with archive.open(info) as file:
                    lake.put(info.filename.removeprefix(FILES), file)
        for part in PARTS:
            if part.table in plan.columns:
                _write(connection, archive, path, part, plan.columns[part.table])
        for name, last in plan.manifest["sequences"].items():
            connection.execute(_GO_ON, {"name": name, "last": last})
        about = {name: plan.manifest[name] for name in ("state_id", "saved_at", "revision")}
        connection.execute(loaded_state.insert().values(**about, who=who))
    return True


_GO_ON = sa.text(
    "SELECT setval(to_regclass(:name), greatest(CAST(:last AS bigint), coalesce(pg_sequence_last_value(to_regclass(:name)), 1)))"
    " WHERE to_regclass(:name) IS NOT NULL"
)
"""A number is never given twice: holds, runs and documents for stores keep theirs."""


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except OSError as error:
        if error.filename is None or str(error.filename) != str(path):
            raise
        raise DataError(
            f"state load: {path}: {error.strerror}. Name the file that `shelfsync state save` wrote"
        ) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, UnicodeDecodeError) as error:
        raise _broken(path, str(error) or "it ends too early") from None


def _broken(path: Path, what: str) -> DataError:
    return DataError(
        f"state load: {path} is no whole saved state ({what}), so nothing was written. Copy it again, or run `shelfsync state save` again"
    )


def _manifest(path: Path, archive: zipfile.ZipFile, chain: str | None) -> dict[str, Any]:
    try:
        info = archive.getinfo(MANIFEST)
        manifest = json.loads(archive.read(info)) if info.file_size <= _MANIFEST_MAX_BYTES else None
    except (KeyError, ValueError):
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("kind") != KIND:
        raise _broken(path, f"it has no {MANIFEST} of a saved state")
    if manifest["format"] > FORMAT:
        raise DataError(
            f"state load: {path} is of format {manifest['format']}, and this version reads up to {FORMAT}; nothing was written."
            f" Install shelfsync {manifest['version']} or newer"
        )
    if manifest["chain"] != chain:
        theirs, ours = (
            f"the chain {name}" if name else "an installation of one chain" for name in (manifest["chain"], chain)
        )
        raise DataError(
            f"state load: {path} is the state of {theirs}, and this is {ours}; nothing was written. Name the chain by --chain"
        )
    return manifest


def _loaded_columns(path: Path, part: Part, saved: list[str], notes: list[str]) -> list[str]:
    """The columns that both have. A DataError if this version needs one that the file lacks."""
    columns = metadata.tables[part.table].columns
    ours = {column.name for column in columns if column.computed is None}
    if gone := [name for name in saved if name not in ours]:
        notes.append(f"{part.table}: this version has no {', '.join(gone)}")
    if new := sorted(ours - {*saved} - part.begun_anew):
        notes.append(f"{part.table}: the saved database had no {', '.join(new)}")
    needed = [
        column.name
        for column in columns
        if column.name in {*new} - {*part.older}
        and not column.nullable
        and column.server_default is None
        and column.identity is None
    ]
    if needed:
        raise DataError(
            f"state load: {path}: {part.table} lacks {', '.join(needed)}, which this version needs; nothing was written."
            " Load it with an older version first, and upgrade that database"
        )
    return [name for name in saved if name in ours]


def _require_empty(connection: Connection, path: Path) -> None:
    for table in ("ledger.run", *(part.table for part in PARTS)):
        if connection.execute(sa.text(f"SELECT EXISTS (SELECT FROM {table})")).scalar_one():  # noqa: S608  a name of ours
            raise DataError(
                f"state load: the database has rows already ({table}), and {path} would be mixed with them; nothing was written."
                " Make an empty database (createdb), name it in SHELFSYNC_DATABASE_URL, and load before the first run"
            )


def _lines(archive: zipfile.ZipFile, path: Path, table: str) -> Iterator[str]:
    try:
        info = archive.getinfo(member(table))
    except KeyError:
        raise _broken(path, f"it has no {member(table)}") from None
    with archive.open(info) as file:
        for line in file:
            yield line.decode()


def _write(connection: Connection, archive: zipfile.ZipFile, path: Path, part: Part, columns: list[str]) -> None:
    made = part.made | {name: value for name, value in part.older.items() if name not in columns}
    names = ", ".join(f'"{name}"' for name in [*columns, *made])
    values = ", ".join([*(f'"{name}"' for name in columns), *made.values()])
    statement = sa.text(
        f"INSERT INTO {part.table} ({names}) OVERRIDING SYSTEM VALUE SELECT {values}"  # noqa: S608  names of ours
        f" FROM json_populate_recordset(NULL::{part.table}, CAST(:lines AS json))"
    )
    some: list[str] = []
    first = 1
    for line in _lines(archive, path, part.table):
        some.append(line)
        if len(some) == _LINES_A_STATEMENT:
            _insert(connection, statement, some, path, part.table, first)
            first += len(some)
            some = []
    if some:
        _insert(connection, statement, some, path, part.table, first)


def _insert(
    connection: Connection, statement: sa.TextClause, lines: list[str], path: Path, table: str, first: int
) -> None:
    try:
        connection.execute(statement, {"lines": f"[{','.join(lines)}]"})
    except DBAPIError as error:
        if is_database_trouble(error):
            raise
        raise DataError(
            f"state load: {path}: {table}: a row of lines {first} to {first + len(lines) - 1} is rejected ({reason(error)});"
            " nothing was written. Save the state again, or report it with this line"
        ) from None
