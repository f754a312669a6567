"""Changes that come as files: a folder in which the ERP puts files with whole rows, each taken once, in the order of their names.

A file that is not whole waits. If it has not changed for a while, it is quarantined with the reason, and the files behind it go on. A file
whose name is before that of a file taken already is quarantined too, because its rows may be older.

All rows come from a database, which is newer than the files that were there before, or from a dump. Of a dump the ERP writes the name of the
last file that it has; each reading of the dump lays the files behind it over it.
"""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from shelfsync.erp import address
from shelfsync.erp.change_file_order import take_in_order
from shelfsync.erp.change_file_state import DONE, REST_S, ChangeFile, FileState, not_whole, place_of, without_a_row
from shelfsync.erp.changes_cursor import Position
from shelfsync.erp.changes_query import CHANGES_FILES, Changes
from shelfsync.erp.columns import CATALOG, CATALOG_CHANGES, Layout
from shelfsync.erp.csvfile import CsvFile
from shelfsync.erp.file_time_limit import TimeLimit
from shelfsync.erp.files import FilesSource
from shelfsync.erp.last_file_of_dump import check_landed, last_of_dump
from shelfsync.errors import (
    ConfigurationError,
    EmptyFileError,
    IncompleteExtractError,
    TryAgainError,
    UnreachableError,
    in_one_line,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from shelfsync.erp.address import FoundFile
    from shelfsync.erp.columns import Chunk
    from shelfsync.erp.extract import ErpSource, Extract
    from shelfsync.erp.parquet import ParquetFile
    from shelfsync.erp.workbook import Workbook
    from shelfsync.settings import ErpSettings

_NO_TEXT_NAME = "its name is not UTF-8; rename it"


class FollowedFiles:
    """An ERP whose changes are files, beside a source of all rows: a database at its present state, or a dump."""

    feed = "files"

    def __init__(self, source: ErpSource, settings: ErpSettings) -> None:
        self._source = source
        self._settings = settings
        self.dumped = settings.changes_since_file is not None
        files = settings.model_copy(update={"files": settings.changes_files, "control_file": None})
        self._files = FilesSource(files, self._layout(""), setting=CHANGES_FILES)
        self._limit = TimeLimit(settings.timeout_s)

    def check(self) -> dict[str, str]:
        """Raises ConfigurationError if the newest file has not the columns, or the folder or the dump's last file cannot be read.

        Returns the stores of which that is true while others are in order: the ERP's id -> why.
        """
        last = last_of_dump(self._settings, self._limit) if self.dumped else None
        found = filter(_has_text_name, self._files.found(may_be_empty=True))
        newest = {file.vendor or "": file for file in sorted(found, key=lambda file: place_of(file.path))}
        needed = self._needed if newest else set()
        nets = _Nets(shared=self._layout("").hook is not None)
        for sequence, file in newest.items():
            with nets.net(sequence):
                if last is not None:
                    last(sequence)
                self._check_columns(file, self._limit.answer(file, self._files.reader(file).names), needed)
        if len(nets.errors) == len(newest):
            for error in nets.errors.values():
                raise error
        return nets.reasons()

    def read_with(self, changes: Changes, vendors: Sequence[str] = ()) -> Extract:
        """All present rows, which are newer than the files that were there before; of a dump, with the files since to lay over them."""
        if self.dumped:
            self._find(
                changes, last_of_dump(self._settings, self._limit)
            )  # read before the dump: an ERP writes it after the dump
        else:
            self.read_changes(changes)
            changes.same_instant = True
            changes.covered = {path for path, known in changes.files.items() if known.sequence not in changes.failed}
        return self._source.read(vendors)

    def read_changes(self, changes: Changes) -> None:
        """Takes the files that were not taken yet; before the first reading of the whole it only notes them, as that has their rows."""
        self._find(changes, None)

    def _find(self, changes: Changes, last: Callable[[str], str] | None) -> None:
        """`last`: sequence -> the last name that the dump has; files behind it are taken even if they were taken before."""
        found = self._files.found(may_be_empty=True)
        changes.present = {file.readable for file in found}
        self._wait_no_more(changes)
        self._set_aside([file for file in found if not _has_text_name(file)], changes)
        sequences: dict[str, list[FoundFile]] = {known.sequence: [] for known in changes.files.values()}
        for file in sorted(filter(_has_text_name, found), key=lambda file: place_of(file.path)):
            sequences.setdefault(file.vendor or "", []).append(file)
        if (last is not None or changes.since is not None) and self._takes(found, changes):
            _ = self._needed  # outside of the nets: an ERP that is away, or a hook that is missing, is no store's fault
        nets = _Nets(shared=self._layout("").hook is not None)
        before = dict(changes.files)
        for sequence, files in sequences.items():
            with nets.net(sequence):
                if last is None:
                    self._take_since(sequence, files, changes)
                else:
                    self._take_over_dump(last(sequence), sequence, files, changes)
            if sequence in nets.errors:  # its rows are left out, so its files are as they were
                others = {path: known for path, known in changes.files.items() if known.sequence != sequence}
                changes.files = others | {path: one for path, one in before.items() if one.sequence == sequence}
        changes.failed = nets.reasons()
        taken = max((file.place for file in changes.files.values() if file.state == FileState.TAKEN), default=("", ""))
        waits = changes.failed or any(file.state == FileState.WAITING for file in changes.files.values())
        changes.position = Position(taken[1], "a file waits" if waits else _mark(found))

    def _takes(self, found: Sequence[FoundFile], changes: Changes) -> bool:
        """Whether a file may be read: of a dump each one, beside a database one that is not done."""
        known = {path: one.stamp for path, one in changes.files.items() if one.state in DONE}
        return any(self.dumped or known.get(file.path) != file.listed for file in found)

    def _take_since(self, sequence: str, files: Sequence[FoundFile], changes: Changes) -> None:
        """Takes the files of a sequence that were not taken yet, beside a source that is newer than those before its first reading."""
        if changes.since is None:
            self._note(files, sequence, changes)
        else:
            take_in_order(sequence, files, changes, self._take, dumped=self.dumped)

    def _take_over_dump(self, last: str, sequence: str, files: Sequence[FoundFile], changes: Changes) -> None:
        """Takes the files of a sequence behind the dump's `last` one, even if they were taken before."""
        landed = [known for known in changes.files.values() if known.sequence == sequence and known.rows]
        self._note([file for file in files if place_of(file.path)[0] <= last], sequence, changes)
        behind = [file for file in files if place_of(file.path)[0] > last]
        self._take_again(behind, sequence, changes)
        take_in_order(sequence, behind, changes, self._take, dumped=self.dumped)
        covered = {
            known.path for known in changes.files.values() if known.sequence == sequence and known.place[0] <= last
        }
        check_landed([known for known in landed if known.path not in covered], changes, self._settings)
        changes.covered |= covered

    def mark(self, cursor: str) -> str:  # noqa: ARG002  the whole folder counts, not what is behind a name
        """A digest of the names and stamps in the folder."""
        return _mark(self._files.found(may_be_empty=True))

    @staticmethod
    def _note(files: Sequence[FoundFile], sequence: str, changes: Changes) -> None:
        """These files are older than all rows, so they count as taken unless they were quarantined."""
        for file in files:
            known = changes.files.get(file.path)
            if known is None or known.state not in DONE or known.stamp != file.listed:
                changes.files[file.path] = ChangeFile(file.path, sequence, file.listed, FileState.TAKEN)

    def _take_again(self, files: Sequence[FoundFile], sequence: str, changes: Changes) -> None:
        """Hands on the rows of files that were taken before and did not change."""
        for file in files:
            known = changes.files.get(file.path)
            if known is not None and known.state == FileState.TAKEN and known.stamp == file.listed:
                one = self._take(file, sequence, known, changes)
                changes.files[file.path] = one if one.state == FileState.TAKEN or known.rows else known

    @staticmethod
    def _wait_no_more(changes: Changes) -> None:
        """Files that were removed while they waited: what landed of them before stays, and the others were never there.

        No stamp is left of what was not read, so the file is looked at again if it comes back.
        """
        for path, known in list(changes.files.items()):
            if known.state == FileState.WAITING and path not in changes.present:
                if known.rows:
                    changes.files[path] = replace(known, state=FileState.TAKEN, stamp="", reason=None)
                else:
                    del changes.files[path]

    @staticmethod
    def _set_aside(files: Sequence[FoundFile], changes: Changes) -> None:
        """Files whose names no database stores. They are in no sequence: what the escaped name sorts before or behind means nothing."""
        for path, known in list(changes.files.items()):
            if known.reason == _NO_TEXT_NAME and path not in changes.present:
                del changes.files[path]
        for file in files:
            changes.files[file.readable] = ChangeFile(
                file.readable, "", file.listed, FileState.QUARANTINED, _NO_TEXT_NAME
            )

    def _take(self, file: FoundFile, sequence: str, known: ChangeFile | None, changes: Changes) -> ChangeFile:
        """Hands on the rows of a file after it was read to its end once; a file that is not whole gives none."""
        needed = self._needed
        try:
            stamp = self._limit.answer(file, file.stamp)
            layout = self._layout(f"{file.path} {stamp}")
            self._read_to_its_end(file, layout, needed)
        except (TryAgainError, UnreachableError):
            raise
        except EmptyFileError as error:
            return without_a_row(file.path, sequence, file.listed, known, str(error))
        except Exception as error:  # noqa: BLE001  whatever it is, the files behind it go on (I10)
            return not_whole(file.path, sequence, file.listed, known, in_one_line(error))
        before = changes.rows
        with contextlib.closing(self._chunks(file, self._files.reader(file))) as chunks:
            for number, chunk in enumerate(chunks, 1):
                rows = layout.raw(chunk, number=number, first_row=changes.rows + 1)
                changes.add(rows)
                changes.rows += rows.num_rows  # a hook may have made more of them than the file has
        if self._limit.answer(file, file.stamp) != stamp:
            raise TryAgainError(f"{file.name} changed while it was read; the next run takes it", after_s=REST_S)
        return ChangeFile(file.path, sequence, file.listed, FileState.TAKEN, rows=changes.rows - before)

    def _read_to_its_end(self, file: FoundFile, layout: Layout, needed: set[str]) -> None:
        """Raises an error of any kind if the file is not whole, has not the columns, or the hook does not accept its rows."""
        reader = self._files.reader(file)
        self._check_columns(file, self._limit.answer(file, reader.names), needed)
        styles = layout.styles(file.name)
        with contextlib.closing(self._chunks(file, reader)) as chunks:
            for number, chunk in enumerate(chunks, 1):
                layout.raw(chunk, number=number, first_row=1, styles=styles)
        styles.check()
        if isinstance(reader, CsvFile) and reader.unterminated:
            raise IncompleteExtractError(
                f"{file.name} does not end with a line break, so its last row may have been cut inside its last field."
                " Let the ERP end the file with a line break."
            )

    def _chunks(self, file: FoundFile, reader: CsvFile | ParquetFile | Workbook) -> Generator[Chunk]:
        return self._limit.answers(file, reader.chunks(self._settings.chunk_rows))

    def _check_columns(self, file: FoundFile, names: Sequence[str], needed: set[str]) -> None:
        """Raises ConfigurationError if the file has not the columns of all rows."""
        layout = self._layout("")
        found = {*layout.sources(names, file.name, vendor=file.vendor), *self._settings.constants}
        if missing := needed - found - ({"vendor"} if file.vendor else set()):
            raise ConfigurationError(
                CHANGES_FILES,
                f"{file.name} has no column {min(missing)!r}, which the SELECT of all rows has",
                "Let both have the same columns: a change replaces the whole row.",
            )

    @cached_property
    def _needed(self) -> set[str]:
        """The columns of all rows, which a file must have; none with a hook, which may add them."""
        if hook := self._layout("").hook:
            hook.load()
            return set()
        return set(CATALOG.names) - set(self._source.absent_columns())

    def _layout(self, stamp: str) -> Layout:
        whole = Layout.of(self._settings)
        constants = {**self._settings.constants, "stamp": stamp}
        columns, mapping = self._settings.columns, self._settings.mapping
        return Layout(columns, constants, mapping, CATALOG_CHANGES, whole.vendor_ids, whole.notation)


class SourceWithChangeFiles:
    """A source of all rows (ErpSource) whose changes come as files."""

    def __init__(self, source: ErpSource, settings: ErpSettings) -> None:
        self._source = source
        self._followed = FollowedFiles(source, settings)
        self.read, self.stores = source.read, source.stores
        self.unused_columns, self.absent_columns = source.unused_columns, source.absent_columns

    def check(self) -> dict[str, str]:
        return self._source.check() | self._followed.check()

    def followed(self) -> FollowedFiles:
        return self._followed


def _has_text_name(file: FoundFile) -> bool:
    return file.readable == file.path


class _Nets:
    """A net for each sequence: whatever one raises, its store fails alone (I10).

    Without a store in the address, an error is about all rows and goes on. So it does if the stores are `shared`: a mapping hook may give the
    rows of a file to any store.
    """

    def __init__(self, *, shared: bool) -> None:
        self._shared = shared
        self.errors: dict[str, Exception] = {}

    @contextlib.contextmanager
    def net(self, sequence: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if self._shared or not sequence:
                raise
            self.errors[sequence] = error

    def reasons(self) -> dict[str, str]:
        """The ERP's id of each store that failed -> why."""
        return {sequence: address.shown(in_one_line(error)) for sequence, error in self.errors.items()}


def _mark(found: Sequence[FoundFile]) -> str:
    texts = "\n".join(sorted(f"{file.readable} {file.listed}" for file in found))
    return f"{len(found)} {hashlib.sha256(texts.encode()).hexdigest()[:16]}"
