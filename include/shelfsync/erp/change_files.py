"""Changes that come as files: a folder in which the ERP puts files with whole rows, each taken once, in the order of their names.

A file that is not whole waits. If it has not changed for a while, it is quarantined with the reason, and the files behind it go on. A file
whose name is before that of a file taken already is quarantined too, because its rows may be older.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from shelfsync.erp.changes import CHANGES_FILES, DONE, REST_S, ChangeFile, Changes, FileState, Position, place_of
from shelfsync.erp.columns import CATALOG, CATALOG_CHANGES, Layout
from shelfsync.erp.csvfile import CsvFile
from shelfsync.erp.files import FilesSource
from shelfsync.errors import ConfigurationError, DataError, EmptyFileError, IncompleteExtractError, TryAgainError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shelfsync.erp.address import FoundFile
    from shelfsync.erp.complete_extract import ErpSource, Extract
    from shelfsync.erp.files import ParquetFile
    from shelfsync.settings import ErpSettings


class FollowedFiles:
    """An ERP whose changes are files, beside a source of all rows that is read at its present state."""

    feed = "files"

    def __init__(self, source: ErpSource, settings: ErpSettings) -> None:
        self._source = source
        self._settings = settings
        files = settings.model_copy(update={"files": settings.changes_files, "control_file": None})
        self._files = FilesSource(files, self._layout(""), setting=CHANGES_FILES)

    def check(self) -> None:
        """Raises ConfigurationError if the newest file has not the columns, or the folder cannot be read."""
        for file in sorted(self._files.found(may_be_empty=True), key=lambda file: place_of(file.path))[-1:]:
            self._check_columns(file, self._files.reader(file).names())

    def read_with(self, changes: Changes) -> Extract:
        """All present rows, which are newer than the files that were there before."""
        self.read_changes(changes)
        changes.same_instant = True
        return self._source.read()

    def read_changes(self, changes: Changes) -> None:
        """Takes the files that were not taken yet; before the first reading of the whole it only notes them, as that has their rows."""
        found = self._files.found(may_be_empty=True)
        changes.present = {file.path for file in found}
        sequences: dict[str, list[FoundFile]] = defaultdict(list)
        for file in sorted(found, key=lambda file: place_of(file.path)):
            sequences[file.vendor or ""].append(file)
        for sequence, files in sequences.items():
            if changes.since is None:
                changes.files |= {
                    file.path: ChangeFile(file.path, sequence, file.listed, FileState.TAKEN) for file in files
                }
            else:
                self._take_sequence(sequence, files, changes)
        taken = max((file.place for file in changes.files.values() if file.state == FileState.TAKEN), default=("", ""))
        waits = any(file.state == FileState.WAITING for file in changes.files.values())
        changes.position = Position(taken[1], "a file waits" if waits else _mark(found))

    def mark(self, cursor: str) -> str:  # noqa: ARG002  the whole folder counts, not what is behind a name
        """A digest of the names and stamps in the folder."""
        return _mark(self._files.found(may_be_empty=True))

    def _take_sequence(self, sequence: str, files: Sequence[FoundFile], changes: Changes) -> None:
        mine = [known for known in changes.files.values() if known.sequence == sequence and known.state in DONE]
        last = max((known.place for known in mine), default=None)
        for file in files:
            known = changes.files.get(file.path)
            if known is not None and known.state in DONE and known.stamp == file.listed:
                continue
            if last is not None and place_of(file.path) < last:
                changed = "it changed" if known is not None and known.state in DONE else "it came"
                why = f"{changed} after {last[1]!r} was taken, whose name is behind its own, so its rows may be older"
                one = ChangeFile(file.path, sequence, file.listed, FileState.QUARANTINED, why)
            else:
                one = self._take(file, sequence, known, changes)
            changes.files[file.path] = one
            if one.state == FileState.WAITING:
                return
            last = one.place if last is None else max(last, one.place)

    def _take(self, file: FoundFile, sequence: str, known: ChangeFile | None, changes: Changes) -> ChangeFile:
        """Hands on the rows of a file after it was read to its end once; a file that is not whole gives none."""
        rested = known is not None and known.rested and known.stamp == file.listed
        stamp = file.stamp()
        try:
            self._read_to_its_end(file)
        except EmptyFileError as error:
            state = FileState.TAKEN if rested else FileState.WAITING
            return ChangeFile(file.path, sequence, file.listed, state, str(error))
        except (DataError, ConfigurationError) as error:
            state = FileState.QUARANTINED if rested else FileState.WAITING
            return ChangeFile(file.path, sequence, file.listed, state, str(error))
        layout, before = self._layout(f"{file.path} {stamp}"), changes.rows
        for number, chunk in enumerate(self._files.reader(file).chunks(self._settings.chunk_rows), 1):
            changes.add(layout.raw(chunk, number=number, first_row=changes.rows + 1))
            changes.rows += chunk.rows
        if file.stamp() != stamp:
            raise TryAgainError(f"{file.name} changed while it was read; the next run takes it", after_s=REST_S)
        return ChangeFile(file.path, sequence, file.listed, FileState.TAKEN, rows=changes.rows - before)

    def _read_to_its_end(self, file: FoundFile) -> None:
        """Raises a DataError or a ConfigurationError if the file is not whole, or has not the columns."""
        reader: CsvFile | ParquetFile = self._files.reader(file)
        self._check_columns(file, reader.names())
        for _ in reader.chunks(self._settings.chunk_rows):
            pass
        if isinstance(reader, CsvFile) and reader.unterminated:
            raise IncompleteExtractError(
                f"{file.name} does not end with a line break, so its last row may have been cut inside its last field."
                " Let the ERP end the file with a line break."
            )

    def _check_columns(self, file: FoundFile, names: Sequence[str]) -> None:
        """Raises ConfigurationError if the file has not the columns of all rows; a hook may add them."""
        layout = self._layout("")
        found = {*layout.sources(names, file.name, vendor=file.vendor), *self._settings.constants}
        if layout.hook is None and (missing := self._needed - found - ({"vendor"} if file.vendor else set())):
            raise ConfigurationError(
                CHANGES_FILES,
                f"{file.name} has no column {min(missing)!r}, which the SELECT of all rows has",
                "Let both have the same columns: a change replaces the whole row.",
            )

    @cached_property
    def _needed(self) -> set[str]:
        return set(CATALOG.names) - set(self._source.absent_columns())

    def _layout(self, stamp: str) -> Layout:
        whole = Layout.of(self._settings)
        constants = {**self._settings.constants, "stamp": stamp}
        return Layout(self._settings.columns, constants, self._settings.mapping, CATALOG_CHANGES, whole.vendor_ids)


class SourceWithChangeFiles:
    """A source of all rows (ErpSource) whose changes come as files."""

    def __init__(self, source: ErpSource, settings: ErpSettings) -> None:
        self._source = source
        self._followed = FollowedFiles(source, settings)
        self.read, self.stores = source.read, source.stores
        self.unused_columns, self.absent_columns = source.unused_columns, source.absent_columns

    def check(self) -> None:
        self._source.check()
        self._followed.check()

    def followed(self) -> FollowedFiles:
        return self._followed


def _mark(found: Sequence[FoundFile]) -> str:
    texts = "\n".join(sorted(f"{file.path} {file.listed}" for file in found))
    return f"{len(found)} {hashlib.sha256(texts.encode()).hexdigest()[:16]}"
