"""Loads a saved state into an empty database: the whole file is read and checked before the first row, and one transaction writes all rows."""

from __future__ import annotations

import contextlib
import hashlib
import json
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pydantic import ValidationError
from sqlalchemy.exc import DBAPIError

from shelfsync.catalog.ledger import vendors
from shelfsync.catalog.warehouse import baseline_history
from shelfsync.errors import DataError
from shelfsync.loaded_states import loaded_state
from shelfsync.saved_state.manifest import FORMAT, KIND, MANIFEST, MANIFEST_BYTES_MAX, Manifest
from shelfsync.saved_state.parts import FILES, NEEDED, PARTS, Part, member
from shelfsync.schemas import BASELINE, completed
from shelfsync.store.engine import is_database_trouble, reason
from shelfsync.store.lake import inside
from shelfsync.warehouse.every_table import metadata

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy.engine import Connection, Engine

    from shelfsync.store.lake import Lake

_LINES_A_STATEMENT = 2000
_BYTES_A_STATEMENT = 1 << 24
_LINE_BYTES_MAX = 1 << 26
_CHUNK_BYTES = 1 << 20
_RUNS = "ledger.run"
_FULL = "run `shelfsync sync --full` next"
_DUE = {"waiting events of orders": "the DAG orders_history reads these orders from the platform"}
"""What completes the unfinished, by its name in the manifest."""


@dataclass(frozen=True)
class Plan:
    """What loading writes: `rows` by table, and `notes` about what is not in the file or stays out."""

    manifest: Manifest
    rows: dict[str, int]
    columns: dict[str, list[str]]
    notes: list[str]
    without_customers: bool


def checked(path: Path, *, chain: str | None, reads: Callable[[bytes], bool], without_customers: bool = False) -> Plan:
    """Reads the whole file. A DataError: it is not whole, not of this kind or chain, or this version cannot load it.

    `reads`: whether this installation's key encrypted that. A file whose customers it cannot read is a DataError, too, unless they stay out.
    The mark of a customer who was forgotten never stays out.
    """
    with _opened(path), _readable(path), zipfile.ZipFile(path) as archive:
        manifest = _manifest(path, archive, chain)
        names = {info.filename for info in archive.infolist()}
        if len(names) < len(archive.infolist()):
            raise _broken(path, "a member is there twice")
        _check_members(archive, path, manifest)
        notes = [f"{table}: the saved database had no such table" for table in manifest.absent]
        rows: dict[str, int] = {}
        columns: dict[str, list[str]] = {}
        for part in PARTS:
            saved = manifest.tables.get(part.table)
            if saved is None:
                continue
            if member(part.table) not in names:
                raise _broken(path, f"it has no {member(part.table)}")
            counted = _counted(archive, path, part, saved.columns, reads)
            if counted.lines != saved.rows:
                raise _broken(path, f"{part.table} has {counted.lines} rows of {saved.rows}")
            rows[part.table] = counted.lines
            if without_customers and counted.encrypted:
                rows[part.table] -= counted.encrypted
                notes.append(f"{part.table}: {counted.encrypted} rows stay out (--without-customers)")
            elif counted.unreadable:
                notes.append(_unreadable(path, counted))
            columns[part.table] = _loaded_columns(path, part, [*dict.fromkeys(saved.columns)], notes)
    notes += _of_the_whole(manifest)
    return Plan(manifest, rows, columns, notes, without_customers)


def _of_the_whole(manifest: Manifest) -> Iterator[str]:
    known = {part.table for part in PARTS}
    yield from (f"{table}: this version has no such table" for table in manifest.tables if table not in known)
    if manifest.missing:
        yield f"{manifest.missing} files of the lake had been removed when the state was saved"
    if manifest.paused is False:
        yield "the chain was not paused when it was saved: what the old installation sent afterwards is not in it"
    if manifest.going_on:
        what = " and ".join(f"{count} {name}" for name, count in manifest.going_on.items())
        yield f"{what} when it was saved: the old installation has to be stopped before this one starts"
    if manifest.unfinished:
        what = " and ".join(f"{count} {name}" for name, count in manifest.unfinished.items())
        due = dict.fromkeys(_DUE.get(name, _FULL) for name in manifest.unfinished)
        yield f"{what} when it was saved: {' and '.join(due)}"


def can_load(engine: Engine | None, lake: Lake, path: Path, plan: Plan) -> bool:
    """What `load` returns or raises before its first row. Nothing is written, and no lock is taken.

    Without an engine: the database has no tables of shelfsync yet.
    """
    with _opened(path), zipfile.ZipFile(path) as archive:
        return _accepts(engine, lake, archive, path, plan)


def load(engine: Engine, lake: Lake, path: Path, plan: Plan, *, who: str) -> bool:
    """Writes all rows in one transaction, and before its end the files to the lake. False: this file was loaded before, and nothing is done.

    A DataError if the database has rows or the lake has other files, or if a row of the file is rejected; then neither a row nor a file is
    written. Files that a try before this one left are taken as they are.
    """
    with _opened(path), zipfile.ZipFile(path) as archive:
        if not _accepts(engine, lake, archive, path, plan):
            return False
        with engine.begin() as connection:
            connection.execute(sa.text("SET LOCAL idle_in_transaction_session_timeout = 0"))  # it copies files
            tables = ", ".join(["ledger.loaded_state", _RUNS, *(part.table for part in PARTS)])
            connection.execute(sa.text(f"LOCK TABLE {tables} IN SHARE ROW EXCLUSIVE MODE"))
            if not _is_new(connection, path, plan):
                return False
            for part in PARTS:
                if part.table in plan.columns:
                    _write(connection, archive, path, part, plan)
            for name, last in plan.manifest.sequences.items():
                with _rejected(path, f"the sequence {name}"):
                    connection.execute(_GO_ON, {"name": name, "last": last})
            about = plan.manifest.model_dump(include={"state_id", "saved_at", "revision"})
            with _rejected(path, MANIFEST):
                connection.execute(loaded_state.insert().values(**about, who=who))
            for name in _files(archive):  # last, so that no rejected row leaves one
                if not lake.exists(name):  # a try before this one published it
                    with archive.open(FILES + name) as file:
                        lake.put(name, file)
            if "left_erp" not in plan.columns.get("warehouse.baseline", ["left_erp"]):
                _complete_baselines(connection, lake)
    return True


def _complete_baselines(connection: Connection, lake: Lake) -> None:
    """The warehouse of an older version kept the four values of a baseline alone; its file has the whole rows."""
    known = vendors.names(connection)
    for vendor, base in vendors.current_baselines(connection, known).items():
        rows = completed(lake.read_table(base.path), BASELINE)
        baseline_history.complete(connection, vendor, rows)


def _accepts(engine: Engine | None, lake: Lake, archive: zipfile.ZipFile, path: Path, plan: Plan) -> bool:
    if _manifest(path, archive, plan.manifest.chain) != plan.manifest:
        raise _broken(path, "it was replaced after it had been checked")
    if engine is not None:
        with engine.connect() as connection:
            if not _is_new(connection, path, plan):
                return False
    _require_lake_of_its_own(lake, archive, path)
    return True


_GO_ON = sa.text(
    "SELECT setval(CAST(format('%I.%I', schemaname, sequencename) AS regclass), greatest(CAST(:last AS bigint), coalesce(last_value, 1)))"
    " FROM pg_sequences WHERE schemaname || '.' || sequencename = :name AND :last > 0"
)
"""A number is never given twice: holds, runs and documents for stores keep theirs."""


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.filename is None or str(error.filename) != str(path):
            raise
        raise DataError(
            f"state load: {path}: {error.strerror}. Name the file that `shelfsync state save` wrote"
        ) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, UnicodeDecodeError) as error:
        raise _broken(path, str(error) or "it ends too early") from None


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    """A damaged directory of a ZIP asks for a password, another version or a place before the file; a row may be nested without end."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise _broken(path, error.strerror or str(error)) from None
    except RuntimeError as error:  # also one that is not implemented
        raise _broken(path, str(error)) from None


def _broken(path: Path, what: str) -> DataError:
    return DataError(
        f"state load: {path} is no whole saved state ({what}), so no row was written. Copy it again, or run `shelfsync state save` again"
    )


def _manifest(path: Path, archive: zipfile.ZipFile, chain: str | None) -> Manifest:
    try:
        info = archive.getinfo(MANIFEST)
        content = archive.read(info) if info.file_size <= MANIFEST_BYTES_MAX else b""
        found = json.loads(content)
    except (KeyError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise _broken(path, f"it has no {MANIFEST} of a saved state")
    made_by = found.get("format")
    if isinstance(made_by, int) and made_by > FORMAT:
        raise DataError(
            f"state load: {path} is of format {made_by}, and this version reads up to {FORMAT}; no row was written."
            f" Install shelfsync {str(found.get('version'))[:40]} or newer"
        )
    try:
        manifest = Manifest.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step)[:80] for step in first["loc"])
        raise _broken(path, f"{MANIFEST}: {where}: {first['msg']}") from None
    if manifest.chain != chain:
        theirs, ours = (
            f"the chain {name}" if name else "an installation of one chain" for name in (manifest.chain, chain)
        )
        raise DataError(
            f"state load: {path} is the state of {theirs}, and this is {ours}; no row was written. Name the chain by --chain"
        )
    return manifest


@dataclass
class _Counted:
    """Rows of one table: how many have a customer's data, and how many of these this installation cannot read."""

    lines: int = 0
    encrypted: int = 0
    unreadable: int = 0


def _counted(
    archive: zipfile.ZipFile, path: Path, part: Part, saved: list[str], reads: Callable[[bytes], bool]
) -> _Counted:
    """A DataError if a row names a file that it needs and that is not there."""
    counted = _Counted()
    members = {*archive.namelist()}
    lake = {column.name for column in metadata.tables[part.table].columns if "lake" in column.info}
    files = [name for name in saved if name in lake] if part.table == NEEDED else []
    for line in _lines(archive, path, part.table):
        counted.lines += 1
        if part.encrypted and (value := _bytes_of(path, part, line)):
            counted.encrypted += 1
            counted.unreadable += not reads(value)
        for name in files:
            file = _value(path, part, name, line)
            if file is not None and f"{FILES}{file}" not in members:
                raise _broken(path, f"a row of {part.table} names {str(file)[:200]!r}, and that file is not in it")
    return counted


def _unreadable(path: Path, counted: _Counted) -> str:
    """The note about customers whom this installation cannot read. A DataError if it reads none."""
    key = "SHELFSYNC_ORDERS__ENCRYPTION_KEY"
    if counted.unreadable < counted.encrypted:
        return f"{key} does not read {counted.unreadable} of the {counted.encrypted} customers in it"
    raise DataError(
        f"state load: {path}: {key} reads none of the {counted.encrypted} customers in it; no row was written."
        " Set the key of the saved database; if it is lost, load --without-customers"
    )


def _bytes_of(path: Path, part: Part, line: str) -> bytes:
    """Customers' data in a row; none if the customer was forgotten."""
    try:
        return bytes.fromhex((_value(path, part, part.encrypted or "", line) or "").removeprefix("\\x"))
    except (ValueError, TypeError, AttributeError):
        raise _broken(path, f"a row of {part.table} has no {part.encrypted}") from None


def _value(path: Path, part: Part, name: str, line: str) -> Any:
    try:
        return json.loads(line)[name]
    except (ValueError, TypeError, KeyError):
        raise _broken(path, f"a row of {part.table} has no {name}") from None


def _files(archive: zipfile.ZipFile) -> list[str]:
    """Paths below the lake's root."""
    return [name.removeprefix(FILES) for name in archive.namelist() if name.startswith(FILES)]


def _check_members(archive: zipfile.ZipFile, path: Path, manifest: Manifest) -> None:
    """A DataError if one is not as it was saved, or a file of the lake is missing or has no path in a lake."""
    names = _files(archive)
    if len(names) != manifest.files:
        raise _broken(path, f"{len(names)} files of the lake of {manifest.files}")
    for name in names:
        inside(name)
    for member_name in archive.namelist():
        if member_name == MANIFEST:
            continue
        with archive.open(member_name) as file:
            digest = hashlib.sha256()
            while chunk := file.read(_CHUNK_BYTES):  # the checksum of the ZIP is compared at the end
                digest.update(chunk)
        if manifest.sha256 is not None and manifest.sha256.get(member_name) != digest.hexdigest():
            raise _broken(path, f"{member_name} is not what was saved: its SHA-256 differs")


def _require_lake_of_its_own(lake: Lake, archive: zipfile.ZipFile, path: Path) -> None:
    """Housekeeping removes what its own database does not name: two databases never share a lake."""
    ours = {*_files(archive)}
    for folder in lake.folders():
        for file in lake.files(folder):
            if file.path not in ours:
                raise DataError(
                    f"state load: the lake {lake.root} has files of another database, or of another saved state that was not loaded ({file.path}); the"
                    f" housekeeping of this one would remove them; no row of {path} was written. Name an empty place in SHELFSYNC_LAKE_URL"
                )


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
            f"state load: {path}: {part.table} lacks {', '.join(needed)}, which this version needs; no row was written."
            " Load it with an older version first, and upgrade that database"
        )
    return [name for name in saved if name in ours]


def _is_new(connection: Connection, path: Path, plan: Plan) -> bool:
    """Whether this file was never loaded here. A DataError if the database has other rows."""
    known = sa.select(loaded_state.c.loaded_at).where(loaded_state.c.state_id == plan.manifest.state_id)
    if connection.execute(known).one_or_none() is not None:
        return False
    for table in (_RUNS, *(part.table for part in PARTS)):
        if connection.execute(sa.text(f"SELECT EXISTS (SELECT FROM {table})")).scalar_one():  # noqa: S608  a name of ours
            raise DataError(
                f"state load: the database has rows already ({table}), and {path} would be mixed with them; no row was written."
                " Make an empty database (createdb), name it in SHELFSYNC_DATABASE_URL, and load before the first run"
            )
    return True


def _lines(archive: zipfile.ZipFile, path: Path, table: str) -> Iterator[str]:
    with archive.open(member(table)) as file:
        while line := file.readline(_LINE_BYTES_MAX):
            if len(line) == _LINE_BYTES_MAX:
                raise _broken(path, f"a row of {table} has more than {_LINE_BYTES_MAX >> 20} MB")
            yield line.decode()


def _write(connection: Connection, archive: zipfile.ZipFile, path: Path, part: Part, plan: Plan) -> None:
    columns = plan.columns[part.table]
    made = part.made | {name: value for name, value in part.older.items() if name not in columns}
    names = ", ".join(f'"{name}"' for name in [*columns, *made])
    values = ", ".join([*(f'"{name}"' for name in columns), *made.values()])
    statement = sa.text(
        f"INSERT INTO {part.table} ({names}) OVERRIDING SYSTEM VALUE SELECT {values}"  # noqa: S608  names of ours
        f" FROM json_populate_recordset(NULL::{part.table}, CAST(:lines AS json))"
    )
    some: list[str] = []
    size = 0
    first = 1
    for line in _lines(archive, path, part.table):
        if plan.without_customers and part.encrypted and _bytes_of(path, part, line):
            continue
        some.append(line)
        size += len(line)
        if len(some) == _LINES_A_STATEMENT or size >= _BYTES_A_STATEMENT:
            _insert(connection, statement, some, path, part.table, first)
            first += len(some)
            some, size = [], 0
    if some:
        _insert(connection, statement, some, path, part.table, first)


def _insert(
    connection: Connection, statement: sa.TextClause, lines: list[str], path: Path, table: str, first: int
) -> None:
    with _rejected(path, f"{table}: a row of lines {first} to {first + len(lines) - 1}"):
        connection.execute(statement, {"lines": f"[{','.join(lines)}]"})


@contextlib.contextmanager
def _rejected(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        if is_database_trouble(error):
            raise
        raise DataError(
            f"state load: {path}: {what} is rejected ({reason(error)});"
            " no row was written. Save the state again, or report it with this line"
        ) from None
