"""The ERP as files: CSV, fixed widths, JSON lines, Parquet or workbooks, local or on any fsspec address, one file a vendor or one for all."""

from __future__ import annotations

import contextlib
import logging
import time
from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from shelfsync.erp import address, text_encoding
from shelfsync.erp.address import FILES, VENDOR, shown
from shelfsync.erp.columns import COLUMNS, CONSTANTS, Chunk, Layout
from shelfsync.erp.complete_extract import Claim, Extract, none_of
from shelfsync.erp.csvfile import CsvFile
from shelfsync.erp.fixed_width import FixedWidth
from shelfsync.erp.json_lines import JsonLines
from shelfsync.erp.mapping_hook import SETTING as MAPPING
from shelfsync.erp.time_limit import TimeLimit
from shelfsync.erp.workbook import Workbook
from shelfsync.errors import (
    ConfigurationError,
    EmptyFileError,
    IncompleteExtractError,
    in_one_line,
    some_of,
    without_stop,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    import pyarrow.parquet as pq

    from shelfsync.erp.address import FoundFile
    from shelfsync.erp.columns import Layout
    from shelfsync.settings import SourceSettings


class ParquetFile:
    """One file; `rows` is the number of rows by its metadata, once it was opened."""

    def __init__(self, found: FoundFile, layout: Layout) -> None:
        self._found = found
        self._layout = layout
        self.rows = 0

    def names(self) -> tuple[str, ...]:
        """The columns."""
        with self._open() as file:
            return tuple(file.schema_arrow.names)

    def chunks(self, rows: int) -> Generator[Chunk]:
        """The rows, up to `rows` at a time, only the wanted columns. Raises IncompleteExtractError if the file is broken or empty."""
        with self._open() as file:
            self.rows = file.metadata.num_rows
            if not self.rows:
                raise EmptyFileError(
                    f"{self._found.name} has no row. An empty file is taken for a broken one: nothing was sent."
                )
            types = {field.name: str(field.type) for field in file.schema_arrow}
            wanted = self._layout.wanted(file.schema_arrow.names, self._found.name, vendor=self._found.vendor)
            try:
                for batch in file.iter_batches(batch_size=rows, columns=list(wanted)):
                    columns = [pa.chunked_array([batch.column(name)]) for name in wanted]
                    yield Chunk(wanted, columns, batch.num_rows, self._found.name, self._found.vendor, types=types)
            except (pa.ArrowException, OSError) as error:
                raise self._broken(error) from None

    def first_rows(self, rows: int) -> Chunk:
        """At most so many of its first rows, with every column."""
        with self._open() as file:
            names = tuple(file.schema_arrow.names)
            try:
                batch = next(file.iter_batches(batch_size=rows), None)
            except (pa.ArrowException, OSError) as error:
                raise self._broken(error) from None
            columns = (
                [pa.chunked_array([column]) for column in batch.columns] if batch is not None else [[] for _ in names]
            )
            return Chunk(names, columns, 0 if batch is None else batch.num_rows, self._found.name, self._found.vendor)

    @contextlib.contextmanager
    def _open(self) -> Generator[pq.ParquetFile]:
        import pyarrow.parquet as pq

        try:
            binary = self._found.fs.open(self._found.path, "rb")
        except OSError as error:
            raise self._broken(error) from None
        with binary:
            try:
                file = pq.ParquetFile(binary, pre_buffer=False)
            except (pa.ArrowException, OSError) as error:
                raise self._broken(error) from None
            with file:
                yield file

    def _broken(self, error: Exception) -> IncompleteExtractError:
        return IncompleteExtractError(
            f"{self._found.name} is no whole Parquet file: {without_stop(error, 300)}. Nothing was sent; let the ERP write it again."
        )


log = logging.getLogger(__name__)

T = TypeVar("T")

CONTROL_FILE = "SHELFSYNC_ERP__CONTROL_FILE"
FILE_FORMAT = "SHELFSYNC_ERP__FILE_FORMAT"
_PACKED = ("", ".gz", ".zst", ".zip", ".bz2", ".xz")
_ENDINGS = {
    "csv": tuple(name + packed for name in (".csv", ".txt", ".tsv") for packed in _PACKED),
    "parquet": (".parquet", ".pq"),
    "jsonl": tuple(name + packed for name in (".jsonl", ".ndjson") for packed in _PACKED),
    "workbook": tuple(name + packed for name in (".xlsx", ".xlsm", ".xls", ".ods") for packed in _PACKED),
}
_CONTROL_BYTES_MAX = 4096
LOOK_S = 5.0
"""How often it is looked whether a file changes while it is read."""
_TRIAL_ROWS = 20


@dataclass
class _Store:
    """The files of one store, or of all where the address does not name it, and what was read of them.

    `unterminated` are files without a line break at their end.
    """

    files: list[FoundFile] = field(default_factory=list)
    rows: int = 0
    metadata_rows: int = 0
    unterminated: list[str] = field(default_factory=list)


class _Stores(dict[str | None, _Store]):
    """The stores of an address by the ERP's id (None: all in one), each with a net of its own: whatever it raises, it fails alone (I10)."""

    def __init__(self, found: Sequence[FoundFile], named: Callable[[str], str]) -> None:
        super().__init__()
        self._named = named
        for file in found:
            self.setdefault(file.vendor, _Store()).files.append(file)
        self.errors: dict[str, Exception] = {}

    @contextlib.contextmanager
    def net(self, vendor: str | None) -> Iterator[None]:
        """Where no store is named, an error is about all rows and goes on."""
        try:
            yield
        except Exception as error:
            if vendor is None:
                raise
            self.errors[vendor] = error

    def good(self) -> list[tuple[str | None, _Store]]:
        """The stores without an error."""
        return [(vendor, store) for vendor, store in self.items() if vendor not in self.errors]

    def failed(self) -> dict[str, str]:
        """The ERP's id -> why. If every store failed, its first error is raised."""
        reasons = {vendor: self._named(shown(in_one_line(error))) for vendor, error in self.errors.items()}
        if self.errors and not self.good():
            first, *others = self.errors
            for vendor in others:
                log.error("%s", reasons[vendor])
            raise self.errors[first]
        return reasons


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
        elif settings.control_file is not None and VENDOR in settings.control_file:
            raise ConfigurationError(
                CONTROL_FILE,
                f"it holds {VENDOR}, which {FILES} does not",
                f"Name the vendor in {FILES} too, or one file for all.",
            )
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
        stores = _Stores(self.found(), self._layout.named)
        self._expected(stores)
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
        stores = _Stores(self.found(), self._layout.named)
        columns = self._read_names(stores, select)
        stores.failed()
        return tuple(dict.fromkeys(name for found in columns for name in found))

    def _read_names(self, stores: _Stores, select: Callable[..., T]) -> list[T]:
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
        stores = _Stores(found, self._layout.named)
        vendors_of_files = {self._platform_id(file) for file in every if file.vendor is not None}
        for vendor, store in stores.items():
            with stores.net(vendor):  # what the reader of a chunk throws comes here too
                for file in store.files:
                    for chunk in self._parts(file, self._settings.chunk_rows, store):
                        self._check_vendor(file, chunk, vendors_of_files)
                        yield chunk
        expected = self._expected(stores, some=len(found) < len(every))
        return self._claim(expected, stores, found)

    def _parts(self, file: FoundFile, rows: int, store: _Store) -> Generator[Chunk]:
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

    def _check_vendor(self, file: FoundFile, chunk: Chunk, known: set[str | None]) -> None:
        """Raises IncompleteExtractError if the rows name another store that has a file of its own: the file may be that store's."""
        if not (own := self._layout.own_vendors(chunk)):
            return
        if others := sorted((own & known) - {self._platform_id(file)}):
            raise IncompleteExtractError(
                f"{file.name} has rows of vendor {some_of(map(repr, others))} in its column 'vendor', and its name is that of {file.vendor!r}."
                " Nothing of it was sent: they would get each other's prices. Let the ERP write each store's rows into its own file; if the"
                " column means something else, give it another name."
            )

    def _tell(self, file: FoundFile, reader: CsvFile | ParquetFile | Workbook) -> None:
        """Logs what a person may not expect of the first workbook that has such a thing: the others are of the same making."""
        if isinstance(reader, Workbook) and reader.notes and not self._told:
            self._told = True
            log.warning("extract: in %s %s.", file.name, "; ".join(reader.notes))

    def _of_vendors(self, found: list[FoundFile], vendors: tuple[str, ...]) -> list[FoundFile]:
        """The files of these vendors, if files are by vendor and no number is about all of them."""
        one_number = self._settings.control_file is not None and VENDOR not in self._settings.control_file
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

    def _claim(self, expected: dict[str | None, int] | None, stores: _Stores, found: list[FoundFile]) -> Claim:
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
    def _check_end(vendor: str | None, store: _Store, expected: dict[str | None, int] | None) -> None:
        """Raises IncompleteExtractError if the store has other rows than its control file gives, or may have been cut at its end."""
        if expected is None and store.unterminated:
            raise IncompleteExtractError(
                f"{store.unterminated[0]} does not end with a line break, so its last row may have been cut inside its last field. Nothing was sent. "
                f"Let the ERP end the file with a line break, or write the true number of rows into a file and name it by {CONTROL_FILE}."
            )
        if expected is not None and vendor in expected and vendor is not None and store.rows != expected[vendor]:
            raise IncompleteExtractError(
                f"{store.rows} rows of vendor {vendor!r} were read, and its control file ({CONTROL_FILE}) gives "
                f"{expected[vendor]}: nothing was sent. Let the ERP write both again."
            )

    def _expected(self, stores: _Stores, *, some: bool = False) -> dict[str | None, int] | None:
        """Store -> its true number of rows; None for all together; no dictionary without control files. `some`: of these stores alone."""
        where = self._settings.control_file
        if where is None:
            return None
        controls = self._limit.answer(shown(where), lambda: address.find(where, endings=("",), setting=CONTROL_FILE))
        numbers: dict[str | None, int] = defaultdict(int)
        if VENDOR not in where:
            for control in controls:
                numbers[None] += self._limit.answer(control, partial(_number, control))
            return numbers
        for control in controls:
            if control.vendor in stores and control.vendor not in stores.errors:
                with stores.net(control.vendor):
                    numbers[control.vendor] = self._limit.answer(control, partial(_number, control))
        theirs = {control.vendor for control in controls}
        alone = stores.keys() ^ theirs if not some else stores.keys() - theirs
        for vendor in sorted(alone - stores.errors.keys(), key=str):
            there, missing = (CONTROL_FILE, FILES) if vendor in theirs else (FILES, CONTROL_FILE)
            with stores.net(vendor):
                raise IncompleteExtractError(
                    f"Vendor {vendor!r} is in {there} but not in {missing}: a file is missing, and nothing was sent. Let the ERP write both."
                )
        return numbers

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


def _number(control: FoundFile) -> int:
    """The number in a control file."""
    try:
        with control.fs.open(control.path, "rb") as file:
            data = file.read(_CONTROL_BYTES_MAX)
    except OSError as error:
        raise IncompleteExtractError(
            f"{control.name} ({CONTROL_FILE}) cannot be read: {error.strerror or error}. Run it again."
        ) from None
    text = data.decode(text_encoding.of(data) or "utf-8-sig", "replace").strip()
    if not text.isascii() or not text.isdigit():
        raise ConfigurationError(
            CONTROL_FILE,
            f"{control.path!r} holds {text[:40]!r}",
            "Let the ERP write one whole number there: the rows without the header.",
        )
    return int(text)
