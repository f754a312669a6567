"""The ERP as files: CSV, fixed widths, JSON lines, Parquet or workbooks, local or on any fsspec address, one file a vendor or one for all."""

from __future__ import annotations

import contextlib
import logging
import time
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from shelfsync.erp import address
from shelfsync.erp.address import FILES, VENDOR, shown
from shelfsync.erp.broken_store import FilesByStore
from shelfsync.erp.columns import COLUMNS, CONSTANTS
from shelfsync.erp.completeness_proof import Claim
from shelfsync.erp.control_file import CONTROL_FILE, check_address, check_rows, is_for_all, true_rows
from shelfsync.erp.csvfile import CsvFile
from shelfsync.erp.extract import Extract, none_of
from shelfsync.erp.file_time_limit import TimeLimit
from shelfsync.erp.fixed_width import FixedWidth
from shelfsync.erp.json_lines import JsonLines
from shelfsync.erp.mapping_hook import SETTING as MAPPING
from shelfsync.erp.parquet import ParquetFile
from shelfsync.erp.rows_of_another_store import refuse
from shelfsync.erp.workbook import Workbook
from shelfsync.errors import (
    ConfigurationError,
    IncompleteExtractError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from shelfsync.erp.address import FoundFile
    from shelfsync.erp.broken_store import StoreFiles
    from shelfsync.erp.columns import Chunk, Layout
    from shelfsync.settings import SourceSettings


log = logging.getLogger(__name__)

T = TypeVar("T")

FILE_FORMAT = "SHELFSYNC_ERP__FILE_FORMAT"
_PACKED = ("", ".gz", ".zst", ".zip", ".bz2", ".xz")
_ENDINGS = {
    "csv": tuple(name + packed for name in (".csv", ".txt", ".tsv") for packed in _PACKED),
    "parquet": (".parquet", ".pq"),
    "jsonl": tuple(name + packed for name in (".jsonl", ".ndjson") for packed in _PACKED),
    "workbook": tuple(name + packed for name in (".xlsx", ".xlsm", ".xls", ".ods") for packed in _PACKED),
}
LOOK_S = 5.0
"""How often it is looked whether a file changes while it is read."""
_TRIAL_ROWS = 20


def _unchanged(file: FoundFile, stamp: str) -> None:
    if file.stamp() != stamp:
        raise IncompleteExtractError(
            f"{file.name} changed while it was read. Nothing was sent; run it again when the ERP has finished writing "
            "(let it write under another name and rename the file at the end)."
        )


class FilesSource:
    """Reads every file of the address, store by store, in the order of their names.

    The proof: the number in the control file; without one, the metadata of Parquet files, where it is plain which files there should be (one
    file, or one for each vendor). Anything else proves nothing, so nothing is concluded from what is absent there.
    """

    def __init__(
        self, settings: SourceSettings, layout: Layout, *, may_be_empty: bool = False, setting: str = FILES
    ) -> None:
        if settings.files is None:
            raise ConfigurationError(setting, "it is not set", "Set it to a file, a folder or a pattern.")
        if VENDOR in settings.files:
            for other, named in ((COLUMNS, settings.columns), (CONSTANTS, settings.constants)):
                if "vendor" in named:
                    raise ConfigurationError(
                        other, f"it gives the vendor, and so does {VENDOR} in {setting}", "Keep one of the two."
                    )
        check_address(settings)
        self._address = settings.files
        self._setting = setting
        self._settings = settings
        self._layout = layout
        self._may_be_empty = may_be_empty
        self._limit = TimeLimit(settings.timeout_s)
        self._told = False

    def check(self) -> dict[str, str]:
        if self._layout.hook is not None:
            self._layout.hook.load()
        stores = FilesByStore(self.found(), self._layout.named)
        true_rows(self._settings.control_file, stores, self._limit)
        self._read_names(stores, self._layout.sources)
        if self._layout.hook is not None:
            for vendor, store in stores.good():
                with stores.net(vendor):
                    for chunk in self._parts(store.files[0], _TRIAL_ROWS, store):
                        self._layout.raw(chunk, number=1, first_row=1)
                        break
                break
        return stores.failed()

    def read(self, vendors: Sequence[str] = ()) -> Extract:
        return Extract(self._chunks(tuple(vendors)), self._layout, may_be_empty=self._may_be_empty)

    def followed(self) -> None:
        return None

    def stores(self) -> dict[str, str | None]:
        self._told = True  # who asks for the stores reads the rows besides
        if VENDOR not in self._address or self._layout.hook is not None:
            return self.read().stores()
        return self._layout.vendor_ids.stores(pa.array([file.vendor for file in self.found()], pa.string()))

    def unused_columns(self) -> tuple[str, ...]:
        return self._columns(self._layout.unused)

    def absent_columns(self) -> tuple[str, ...]:
        return self._columns(self._layout.absent)

    def _columns(self, select: Callable[..., tuple[str, ...]]) -> tuple[str, ...]:
        stores = FilesByStore(self.found(), self._layout.named)
        columns = self._read_names(stores, select)
        stores.failed()
        return tuple(dict.fromkeys(name for found in columns for name in found))

    def _read_names(self, stores: FilesByStore, select: Callable[..., T]) -> list[T]:
        """What `select` makes of the columns of each file."""
        found = []
        for vendor, store in stores.good():
            with stores.net(vendor):
                for file in store.files:
                    reader = self.reader(file)
                    names = self._limit.answer(file, reader.names)
                    with _named(reader):
                        found.append(select(names, file.name, vendor=file.vendor))
        return found

    def _chunks(self, vendors: tuple[str, ...]) -> Generator[Chunk, None, Claim]:
        if self._layout.hook is not None:
            self._layout.hook.load()  # outside of the nets: a hook that is missing is no store's fault
        every = self.found()
        found = self._of_vendors(every, vendors)
        stores = FilesByStore(found, self._layout.named)
        vendors_of_files = {self._platform_id(file) for file in every if file.vendor is not None}
        for vendor, store in stores.items():
            with stores.net(vendor):  # what the reader of a chunk throws comes here too
                for file in store.files:
                    for chunk in self._parts(file, self._settings.chunk_rows, store):
                        refuse(file, self._layout.own_vendors(chunk), self._platform_id(file), vendors_of_files)
                        yield chunk
        expected = true_rows(self._settings.control_file, stores, self._limit, some=len(found) < len(every))
        return self._claim(expected, stores, found)

    def _parts(self, file: FoundFile, rows: int, store: StoreFiles) -> Generator[Chunk]:
        """The chunks of one file, each within the time limit, counted for its store."""
        reader = self.reader(file)

        def parts() -> Generator[Chunk]:
            stamp, looked_s = file.stamp(), time.monotonic()
            try:
                for chunk in reader.chunks(rows):
                    with _named(reader):
                        self._layout.sources(chunk.names, chunk.where, vendor=chunk.vendor)
                    yield chunk
                    if time.monotonic() - looked_s >= LOOK_S:  # or a file that grows faster than it is read has no end
                        _unchanged(file, stamp)
                        looked_s = time.monotonic()
            finally:  # also of a reading of its first rows
                self._tell(file, reader)
            _unchanged(file, stamp)

        with contextlib.closing(self._limit.answers(file, parts())) as chunks:
            for chunk in chunks:
                store.rows += chunk.rows - chunk.no_rows
                yield chunk
        if isinstance(reader, CsvFile):
            store.unterminated += [file.name] if reader.unterminated else []
        elif isinstance(reader, ParquetFile):
            store.metadata_rows += reader.rows

    def _tell(self, file: FoundFile, reader: CsvFile | ParquetFile | Workbook) -> None:
        """Logs what a person may not expect of the first workbook that has such a thing: the others are of the same making."""
        if isinstance(reader, Workbook) and reader.notes and not self._told:
            self._told = True
            log.warning("extract: in %s %s.", file.name, "; ".join(reader.notes))

    def _of_vendors(self, found: list[FoundFile], vendors: tuple[str, ...]) -> list[FoundFile]:
        """The files of these vendors, if files are by vendor and no number is about all of them."""
        one_number = is_for_all(self._settings)
        if not vendors or VENDOR not in self._address or self._layout.hook is not None or one_number:
            return found
        meant = self._layout.vendor_ids.meant(pa.array([file.vendor for file in found], pa.string()), vendors)
        theirs = [file for file, is_theirs in zip(found, meant.to_pylist(), strict=True) if is_theirs]
        if not theirs:
            raise none_of(vendors, f"{len(found)} files")
        return theirs

    def _platform_id(self, file: FoundFile) -> str | None:
        """The vendor of a file; None for a store that is not on the platform."""
        [vendor] = self._layout.vendor_ids.platform_ids(pa.array([file.vendor], pa.string())).to_pylist()
        return None if vendor is None else str(vendor)

    def _claim(self, expected: dict[str | None, int] | None, stores: FilesByStore, found: list[FoundFile]) -> Claim:
        for vendor, store in stores.good():
            with stores.net(vendor):
                self._check_end(vendor, store, expected)
        failed = stores.failed()
        good = [store for _, store in stores.good()]
        caveat = None
        if failed and self._layout.hook is not None:
            caveat = f"{len(failed)} stores could not be read, whose rows the mapping hook may give to others"
        if expected is not None and None in expected and failed:
            how = f"the control file ({CONTROL_FILE}) is about all stores, of which {len(failed)} could not be read"
            return Claim(None, how, caveat, failed)
        if expected is not None:
            rows = sum(number for vendor, number in expected.items() if vendor not in failed)
            return Claim(rows, f"the control file ({CONTROL_FILE})", caveat, failed)
        if (kind := self._format(found[0])) != "parquet":
            what = {"csv": "CSV", "jsonl": "file of JSON lines", "fixed": "text of fixed widths"}.get(kind, kind)
            how = f"a {what} without a control file proves nothing about what is absent (see {CONTROL_FILE})"
            return Claim(None, how, caveat, failed)
        if not address.names_each_file(self._address, found):
            how = f"a folder or a pattern does not give the number of files, so one may be missing (see {CONTROL_FILE})"
            return Claim(None, how, caveat, failed)
        rows = sum(store.metadata_rows for store in good)
        return Claim(rows, "the row count in the metadata of the Parquet files", caveat, failed)

    @staticmethod
    def _check_end(vendor: str | None, store: StoreFiles, expected: dict[str | None, int] | None) -> None:
        """Raises IncompleteExtractError if the store has other rows than its control file gives, or may have been cut at its end."""
        if expected is None and store.unterminated:
            raise IncompleteExtractError(
                f"{store.unterminated[0]} does not end with a line break, so its last row may have been cut inside its last field. Nothing was sent. "
                f"Let the ERP end the file with a line break, or write the true number of rows into a file and name it by {CONTROL_FILE}."
            )
        if expected is not None:
            check_rows(vendor, store.rows, expected)

    def found(self, *, may_be_empty: bool = False) -> list[FoundFile]:
        """The files, sorted by path, all of one format; a ConfigurationError if there are none, unless there may be none."""
        found = self._limit.answer(
            shown(self._address),
            lambda: address.find(
                self._address, endings=self._endings(), setting=self._setting, may_be_empty=may_be_empty
            ),
        )
        formats = {self._format(file) for file in found}
        if len(formats) > 1:
            raise ConfigurationError(
                self._setting,
                f"{shown(self._address)} holds files of several kinds: {' and '.join(sorted(formats))}",
                f"Narrow the pattern, or set {FILE_FORMAT}.",
            )
        return found

    def _endings(self) -> tuple[str, ...]:
        format_ = self._settings.file_format or ("fixed" if self._settings.fixed_width else None)
        if format_ == "fixed":
            return (*_ENDINGS["csv"], ".dat", ".asc", ".prn")
        return _ENDINGS[format_] if format_ else tuple(ending for each in _ENDINGS.values() for ending in each)

    def _format(self, file: FoundFile) -> str:
        if self._settings.file_format is not None:
            return self._settings.file_format
        if self._settings.fixed_width:
            return "fixed"
        if (format_ := format_by_ending(file.path)) is not None:
            return format_
        raise ConfigurationError(
            FILE_FORMAT,
            f"the ending of {file.path!r} is that of no known format",
            f"Set it to {', '.join((*_ENDINGS, 'fixed'))}; `shelfsync sniff {file.readable}` proposes which.",
        )

    def reader(self, file: FoundFile) -> CsvFile | ParquetFile | Workbook:
        """What reads one of the files."""
        settings = self._settings
        match self._format(file):
            case "parquet":
                return ParquetFile(file, self._layout)
            case "workbook":
                return Workbook(file, self._layout, settings.sheet, settings.header_row or 1)
            case "jsonl":
                return JsonLines(file, self._layout, settings.csv_encoding)
            case "fixed":
                return FixedWidth(file, self._layout, settings.fixed_width, settings.csv_encoding, settings.header_row)
        quoted = settings.csv_quoting == "standard"
        return CsvFile(
            file, self._layout, settings.csv_delimiter, settings.csv_encoding, settings.header_row or 1, quoted=quoted
        )


@contextlib.contextmanager
def _named(reader: CsvFile | ParquetFile | Workbook) -> Iterator[None]:
    """A file without the columns that are looked for has them in another line or between other delimiters: then that is the error."""
    try:
        yield
    except ConfigurationError as error:
        cause = (
            reader.likely_cause()
            if isinstance(reader, (CsvFile, Workbook)) and error.setting in {COLUMNS, MAPPING}
            else None
        )
        raise cause or error from None


def format_by_ending(path: str) -> str | None:
    """The format that the ending of a file's name gives."""
    return next((one for one, endings in _ENDINGS.items() if path.casefold().endswith(endings)), None)
