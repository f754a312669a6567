"""One sheet of a workbook (xlsx, xlsm, xls, ods), row by row, as calamine reads it.

| cell | value here |
|---|---|
| text | itself |
| number | the decimal that Excel shows without a format, at most 15 significant digits: 4006381333931, 0.3 |
| a price whose format (xlsx, xlsm) shows fewer decimals | what the sheet shows: 7.995 in `0.00` is 8.00; of a campaign also 1 in `0%` is 100 |
| a code of more than 15 digits, typed as a number | the float with an exponent, so that it is no key: its last digits are invented |
| a vendor or SKU that is an error, a date, a truth value or has decimals | its row is damaged: the key that was meant is nowhere |
| date, time, truth value | itself |
| error (`#N/A`), or a formula that no program has calculated | broken text, so that its row is quarantined |
| empty | null |

calamine gives the same empty text for the last two lines. In xlsx and xlsm the sheet's own XML distinguishes them. In xls and ods nothing that
is at hand does, so there an empty cell of a value that shelfsync sends counts as broken.

Rows that are hidden, as by a filter, are read as any other; hidden sheets are not. Of merged cells the first has the value, the others are
empty. In xlsx and xlsm the XML tells of both, and so does shelfsync.

A workbook is in memory as a whole; BYTES_MAX bounds it.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import posixpath
import re
import zipfile
from collections import deque
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.erp import cell_formats, first_bytes, packed_files
from shelfsync.erp.column_kinds import kinds_among
from shelfsync.erp.columns import Chunk
from shelfsync.erp.no_row import HEADER_AGAIN, TOTAL, folded, last_is_total, names_again
from shelfsync.erp.text import MARK, text
from shelfsync.erp.text_encoding import encoding_of
from shelfsync.errors import (
    ConfigurationError,
    DataError,
    EmptyFileError,
    IncompleteExtractError,
    some_of,
    without_stop,
)
from shelfsync.schemas import FIELDS

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence

    from python_calamine import CalamineSheet, CalamineWorkbook

    from shelfsync.erp.address import FoundFile
    from shelfsync.erp.cell_formats import CellFormat
    from shelfsync.erp.columns import Layout

SHEET = "SHELFSYNC_ERP__SHEET"
HEADER_ROW = "SHELFSYNC_ERP__HEADER_ROW"
BYTES_MAX = 512 * 2**20
"""The most that a workbook may have unpacked; calamine needs some five times as much memory."""

BROKEN = f"{MARK} error or formula without a value"
_AMOUNTS = ("price", "base_price", "cost")
_DIGITS_EXACT = 15
_EXPONENT_SHOWN = 1e16
"""From here on a float is written with an exponent, by which a key that lost digits is recognised."""
_ROWS_LOOKED_AT = 30
_SHOWN_CHARACTERS = 60
_PACKED = b"PK\x03\x04"
_OF_WORKBOOKS = frozenset({"[Content_Types].xml", "content.xml"})
"""What every packed workbook holds, one of Excel or an OpenDocument."""
_WORKBOOKS = tuple(kind.name for kind in first_bytes.KINDS if kind.format == "workbook")
_TEXT_BYTES = 4096
_PIECE = 4 * 2**20
_ROWS_OF_BLOCK = 1000
_CELL = re.compile(rb"<(?:\w+:)?c\b([^>]*?)(?:/>|>(.*?)</(?:\w+:)?c>)", re.DOTALL)
_ERROR = re.compile(rb"""\bt=["']e["']""")
_CALCULATED_TEXT = re.compile(rb"""\bt=["']str["']""")
_FORMULA = re.compile(rb"<(?:\w+:)?f\b")
_VALUE = re.compile(rb"<(?:\w+:)?v\b[^>]*>[^<]")
_HIDDEN = re.compile(rb"""<(?:\w+:)?row\b([^>]*\bhidden=["'](?:1|true)["'][^>]*)>""")
_ROW = re.compile(rb"""\br=["'](\d+)["']""")
_MERGED = re.compile(rb"""<(?:\w+:)?mergeCell [^>]*?ref=["'][A-Z]+\d+:[A-Z]+(\d+)["']""")
_ROWS_MAX = 2**20
_PLACE = re.compile(rb"""\br=["']([A-Z]+)(\d+)["']""")
_R_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


class Workbook:
    """One file; `names` is the row `header_row` of its sheet, and the rows below it are read."""

    def __init__(
        self, found: FoundFile, layout: Layout, sheet: str | None, header_row: int, bytes_max: int = BYTES_MAX
    ) -> None:
        self._found = found
        self._layout = layout
        self._sheet_name = sheet
        self._header_row = header_row
        self._bytes_max = bytes_max
        self._formats: dict[bytes, CellFormat] = {}
        self._hides_formats = False
        """Whether the kind of workbook gives numbers without their formats."""
        self._of_cells: dict[str, dict[int, CellFormat]] = {}
        self._titles: list[Any] = []
        """The cells of the header, once it is read."""
        self._notes: list[str] = []
        self._shown: dict[str, tuple[int, str]] = {}
        """Column -> how many of its cells have more than they show, and the first."""

    @property
    def notes(self) -> list[str]:
        """What a person may not expect of the sheet, as far as it was read."""
        return [
            *self._notes,
            *(
                f"{count:,} cells of {name!r} have more than they show, and shelfsync reads what they show, as in {first}"
                for name, (count, first) in self._shown.items()
            ),
        ]

    def names(self) -> tuple[str, ...]:
        """The header."""
        sheet, _ = self._open()
        return self._header(_rows(sheet))

    def chunks(self, rows: int) -> Generator[Chunk]:
        """The rows below the header that have any cell, up to `rows` at a time."""
        sheet, broken = self._open()
        left = sheet.start[1] if sheet.start else 0
        below = _rows(sheet)
        names = self._header(below)
        self._note_padded(sheet.name, names, left)
        strict = frozenset(place + left for place in self._strict(names)) if broken is None else frozenset()
        empty, titles = [""] * len(self._titles), folded(self._titles)
        total = 0
        part: list[list[Any]] = []
        numbers: list[int] = []
        no_rows: list[str] = []
        while block := [*itertools.islice(below, _ROWS_OF_BLOCK)]:
            every = [cells for _, cells in block]
            with_broken = broken is None or not broken.keys().isdisjoint(range(block[0][0], block[-1][0] + 1))
            if not (
                with_broken or empty in every or titles[0] in folded({cells[0] for cells in every})
            ):  # as nearly always
                part += every
                numbers += [number for number, _ in block]
                block = []
            for number, cells in block:
                faulty = strict if broken is None else broken.get(number, frozenset())
                if cells == empty and (broken is None or not faulty):
                    continue
                if names_again(cells, titles):
                    no_rows.append(_no_row(number, cells, HEADER_AGAIN))
                    continue
                numbers.append(number)
                part.append(_with_broken(cells, left, faulty) if faulty else cells)
            while len(part) > rows:  # one is kept: the last row of the sheet may be a total
                total += rows
                self._show_amounts(sheet.name, names, left, part[:rows], numbers)
                self._doubt_percentages(names, part[:rows])
                yield self._chunk(names, part[:rows], numbers, no_rows)
                part, numbers, no_rows = part[rows:], numbers[rows:], []
        keys = self._key_places(names)
        sku = keys.get("sku")
        if part and sku is not None and last_is_total(_filled_texts(part[-1][: len(names)]), sku, keys.get("vendor")):
            no_rows.append(_no_row(numbers[-1], _filled_texts(part.pop()[: len(names)]), TOTAL))
        if part or no_rows:
            total += len(part)
            self._show_amounts(sheet.name, names, left, part, numbers)
            self._doubt_percentages(names, part)
            yield self._chunk(names, part, numbers, no_rows)
        if not total:
            raise EmptyFileError(
                f"{self._found.name} has a header and no row. An empty file is taken for a broken one: nothing was sent."
            )

    def first_rows(self, rows: int) -> tuple[list[str], str, list[tuple[int, list[Any]]]]:
        """Its visible sheets with any cell, the name of one of them, and its first rows and its last one: the number of each from 1, and its cells.

        The one is the first in which a row has names that shelfsync knows; without such a sheet it is the first.
        """
        data = self._bytes()
        self._packed(data)
        with self._whole():
            workbook = self._workbook(data)
            filled, sheet = _filled(workbook)
            if sheet is None:
                raise self._without_cells(_hidden(workbook))
            others = (workbook.get_sheet_by_name(name) for name in filled[1:])
            sheet = next((one for one in itertools.chain([sheet], others) if names_row(_first(one)) is not None), sheet)
            every = _rows(sheet)
            found = [*itertools.islice(every, rows), *deque(every, maxlen=1)]
        return filled, sheet.name, [(number + 1, [_value(cell) for cell in cells]) for number, cells in found]

    def notes_of(self, sheet: str) -> list[str]:
        """What a person may not expect of this sheet, and of the sheets that are hidden."""
        data = self._bytes()
        packed = self._packed(data)
        with self._whole():
            hidden = _hidden(self._workbook(data))
        notes = []
        if packed is not None:
            seen = self._look(packed, sheet)
            notes = seen.notes()
            if broken := [
                (row, column) for row, of_row in seen.broken.items() for column in of_row if row >= self._header_row
            ]:
                row, column = min(broken)
                cells = f"{len(broken):,} cells have an error, or a formula that no program has calculated, such as {_letters(column)}{row + 1}"
                notes.append(f"{cells}; shelfsync quarantines each such value")
        if hidden:
            notes.append(f"shelfsync does not read the hidden sheets: {some_of(hidden)}. If one is meant, set {SHEET}")
        return notes

    def likely_cause(self) -> ConfigurationError | None:
        """Why the sheet does not have the columns that are looked for, if another of its first rows has their names."""
        sheet, _ = self._open()
        first = _first(sheet)
        found = names_row(first)
        if found in {None, self._header_row}:
            return None
        names = next(cells for number, cells in first if number == found)
        above = "; above it is a title" if found is not None and found > self._header_row else ""
        return ConfigurationError(
            HEADER_ROW,
            f"is {self._header_row}, and row {found} of {self._found.name} looks like the names of its columns: {_joined(names)!r}{above}",
            f"Set it to {found}. `shelfsync sniff {self._found.readable}` proposes all settings.",
        )

    def _chunk(
        self, names: tuple[str, ...], rows: list[list[Any]], numbers: Sequence[int], no_rows: list[str]
    ) -> Chunk:
        as_numbers = self._layout.hook is not None  # a hook computes with them, and judges keys itself
        damaged: dict[int, str] = {}
        places = {} if as_numbers else self._key_places(names)
        without_vendor: set[int] = set()
        for name, key in places.items():
            for row, what in _no_keys([cells[key] for cells in rows]):
                damaged.setdefault(
                    row, f"row {numbers[row] + 1}: {_titled(name, names[key])} {what}: {_joined(rows[row])}"
                )
                if name == "vendor":
                    without_vendor.add(row)
        vendors: dict[int, str] = {}
        if "vendor" in places:
            for place, row in enumerate(damaged):
                if row not in without_vendor and (vendor := text(_value(rows[row][places["vendor"]]))):
                    vendors[place] = vendor
        if damaged:
            rows = [cells for row, cells in enumerate(rows) if row not in damaged]
        columns = [_values([cells[place] for cells in rows], as_numbers=as_numbers) for place in range(len(names))]
        beside = (*damaged.values(), *no_rows)
        return Chunk(
            names,
            columns,
            len(rows) + len(beside),
            self._found.name,
            self._found.vendor,
            beside,
            vendors,
            types=dict.fromkeys(names, "text"),  # a sheet has no types: a column of numbers may have a text tomorrow
            typed=frozenset(name for name, column in zip(names, columns, strict=True) if isinstance(column, pa.Array)),
            no_rows=len(no_rows),
        )

    def _key_places(self, names: tuple[str, ...]) -> dict[str, int]:
        return self._places_of(names, ("vendor", "sku"))

    def _places_of(self, names: tuple[str, ...], ours: Sequence[str]) -> dict[str, int]:
        """Where these columns of shelfsync stand, as far as the sheet has them."""
        try:
            sources = self._layout.sources(names, self._found.name, vendor=self._found.vendor)
        except ConfigurationError:  # a mapping hook may make them
            return {}
        return {name: names.index(sources[name]) for name in ours if name in sources}

    def _note_padded(self, sheet: str, names: tuple[str, ...], left: int) -> None:
        """Notes keys whose format shows zeros in front that the file does not have."""
        padded = {number: one for number, one in self._formats.items() if one.digits > 1}
        letters = {_letters(place + left): names[place] for place in self._key_places(names).values()}
        for letter, cells in self._formats_of(sheet, letters, padded).items():
            rows = [row for row in cells if row >= self._header_row]
            if rows:
                self._notes.append(
                    f"{len(rows):,} cells of {letters[letter]!r} have the format {cells[rows[0]].code}, as {letter}{rows[0] + 1}: it shows zeros in front"
                    " that are not in the file, and shelfsync reads the number without them. If they belong to the key, let the ERP write texts"
                )

    def _show_amounts(
        self, sheet: str, names: tuple[str, ...], left: int, rows: list[list[Any]], numbers: Sequence[int]
    ) -> None:
        """Puts what the sheet shows into the cells of prices, where a format shows less than the file has."""
        if not self._formats:
            return
        of_campaigns = "campaign" in self._layout.extract.names
        few = {
            number: one
            for number, one in self._formats.items()
            if one.decimals < cell_formats.MONEY_DECIMALS or (of_campaigns and one.is_percentage)
        }
        amounts = () if self._layout.hook is not None else _AMOUNTS  # a hook computes with what the file has
        for place in self._places_of(names, amounts).values():
            cells = [row[place] for row in rows]
            if not few and not any(
                isinstance(cell, float) and round(cell, cell_formats.MONEY_DECIMALS) != cell for cell in cells
            ):
                continue
            letter = _letters(place + left)
            if letter not in self._of_cells:
                self._of_cells |= self._formats_of(sheet, [letter], self._formats)
            of_row, changed = self._of_cells[letter], []
            for row, cell, number in zip(rows, cells, numbers, strict=False):
                if (one := of_row.get(number)) is None or not isinstance(cell, (int, float)) or isinstance(cell, bool):
                    continue
                if one.is_percentage and not of_campaigns:
                    continue
                row[place] = float(one.shown(cell))
                if row[place] != cell:
                    changed.append(f"{letter}{number + 1} ({_number(float(cell))} as {one.shown(cell)})")
            if changed:
                count, first = self._shown.get(names[place], (0, changed[0]))
                self._shown[names[place]] = (count + len(changed), first)

    def _doubt_percentages(self, names: tuple[str, ...], rows: list[list[Any]]) -> None:
        """Makes a campaign's percentage of 1 no number where its cell may show 100 %."""
        if not self._hides_formats or "campaign" not in self._layout.extract.names:
            return
        places, constant = self._places_of(names, ("price", "discount_type")), self._layout.constants
        if "price" not in places:
            return
        for row in rows:
            kind = row[places["discount_type"]] if "discount_type" in places else constant.get("discount_type")
            if row[places["price"]] == 1 and str(kind).strip().upper() == "PERCENTAGE":
                row[places["price"]] = "1 (or 100 %: .xls and .ods do not show which; give 100, or use .xlsx)"

    def _formats_of(
        self, sheet: str, letters: Collection[str], wanted: Mapping[bytes, CellFormat]
    ) -> dict[str, dict[int, CellFormat]]:
        """Column -> row from 0 -> the format, of these columns and formats."""
        if not letters or not wanted or (packed := self._packed(self._bytes())) is None:
            return {letter: {} for letter in letters}
        with packed, packed.open(_sheet_path(packed, sheet)) as file:
            return cell_formats.of_cells(file, letters, wanted)

    def _strict(self, names: tuple[str, ...]) -> frozenset[int]:
        """Where an empty cell may be a broken one: the columns of values that are sent."""
        sources = self._layout.sources(names, self._found.name, vendor=self._found.vendor)
        return frozenset(names.index(theirs) for ours, theirs in sources.items() if ours in FIELDS)

    def _header(self, below: Iterator[tuple[int, list[Any]]]) -> tuple[str, ...]:
        for number, cells in below:
            if number + 1 == self._header_row:
                self._titles = cells
                names = as_texts(cells)
                while names and not names[-1]:
                    names.pop()
                if names:
                    return tuple(name or f"column {place}" for place, name in enumerate(names, 1))
                break
        raise ConfigurationError(
            HEADER_ROW,
            f"row {self._header_row} of {self._found.name} is empty",
            "Give the number of the row that has the names of the columns.",
        )

    def _open(self) -> tuple[CalamineSheet, dict[int, frozenset[int]] | None]:
        """The sheet, and its broken cells: row -> columns, each from 0; None if they cannot be known."""
        data = self._bytes()
        packed = self._packed(data)
        with self._whole():
            sheet = self._chosen(self._workbook(data))
        if packed is None:
            self._hides_formats = True
            return sheet, None
        self._formats = cell_formats.formats(packed)
        seen = self._look(packed, sheet.name)
        self._notes = seen.notes()
        return sheet, {row: frozenset(columns) for row, columns in seen.broken.items()}

    def _bytes(self) -> bytes:
        try:
            file = packed_files.open_unpacked(self._found)
        except OSError as error:
            raise IncompleteExtractError(
                f"{self._found.name} cannot be opened: {error.strerror or error}. Run it again."
            ) from None
        try:
            with file:
                data = file.read(self._bytes_max + 1)
        except packed_files.CUT as error:
            raise IncompleteExtractError(
                f"{self._found.name} cannot be read: {without_stop(error)}. Nothing was sent; let the ERP write it again."
            ) from None
        first_bytes.reject(self._found, data[: packed_files.HEAD_BYTES].lstrip(), *_WORKBOOKS)
        if data and first_bytes.of(data) is None and encoding_of(data[:_TEXT_BYTES]) is not None:
            raise ConfigurationError(
                first_bytes.FILE_FORMAT,
                f"{self._found.name} is text and no workbook, whatever its ending is",
                f"Set it to csv. `shelfsync sniff {self._found.readable}` proposes all settings.",
            )
        return data

    @contextlib.contextmanager
    def _whole(self) -> Iterator[None]:
        from python_calamine import CalamineError

        try:
            yield
        except BaseException as error:
            # calamine panics at some damaged files, and its panic is no Exception: unnoticed, it would end the runs of all stores
            if not isinstance(error, CalamineError) and type(error).__name__ != "PanicException":
                raise
            raise IncompleteExtractError(
                f"{self._found.name} is no whole workbook: {without_stop(error, 300)}. Nothing was sent; let the ERP write it again, without a"
                " password."
            ) from None

    @staticmethod
    def _workbook(data: bytes) -> CalamineWorkbook:
        from python_calamine import CalamineWorkbook

        return CalamineWorkbook.from_filelike(io.BytesIO(data))

    def _packed(self, data: bytes) -> zipfile.ZipFile | None:
        """The archive of an xlsx or xlsm; None for the other kinds. Raises DataError for a file that is too large."""
        archive, size = None, len(data)
        if size <= self._bytes_max and data.startswith(_PACKED):
            try:
                archive = zipfile.ZipFile(io.BytesIO(data))
            except zipfile.BadZipFile as error:
                raise IncompleteExtractError(
                    f"{self._found.name} is no whole workbook: {without_stop(error)}. Nothing was sent; let the ERP write it again."
                ) from None
            size = sum(member.file_size for member in archive.infolist())
        if size > self._bytes_max:
            raise DataError(
                f"{self._found.name} has more than {self._bytes_max:,} bytes unpacked, the most that a workbook may have. Nothing was sent; let the"
                " ERP write CSV or Parquet."
            )
        members = archive.namelist() if archive is not None else []
        if archive is not None and not _OF_WORKBOOKS & set(members):
            raise DataError(
                f"{self._found.name} is a zip archive and no workbook; it holds {some_of(members)}. Nothing was sent; if it is packed twice, let the"
                " ERP pack it once."
            )
        return archive if "xl/workbook.xml" in members else None

    def _chosen(self, workbook: CalamineWorkbook) -> CalamineSheet:
        """The sheet that the setting names; without it, the only visible one that has cells."""
        names = workbook.sheet_names
        if self._sheet_name is not None:
            if self._sheet_name in names:
                return workbook.get_sheet_by_name(self._sheet_name)
            problem = f"{self._found.name} has no sheet {self._sheet_name!r}; it has {some_of(names)}"
            raise ConfigurationError(SHEET, problem, "Name one of them.")
        filled, sheet = _filled(workbook)
        if sheet is None:
            raise self._without_cells(_hidden(workbook))
        if len(filled) == 1:
            return sheet
        raise ConfigurationError(SHEET, f"{self._found.name} has the sheets {some_of(filled)}", "Name one of them.")

    def _without_cells(self, hidden: Sequence[str]) -> IncompleteExtractError:
        beside = f" beside its hidden sheets {some_of(hidden)}; if one is meant, set {SHEET}" if hidden else ""
        return IncompleteExtractError(
            f"{self._found.name} has no cell{beside}. An empty file is taken for a broken one: nothing was sent."
        )

    def _look(self, archive: zipfile.ZipFile, name: str) -> _Seen:
        seen = _Seen(self._header_row)
        with archive, archive.open(_sheet_path(archive, name)) as file:
            seen.look(file)
        return seen


def names_row(rows: Iterable[tuple[int, Sequence[Any]]]) -> int | None:
    """The number of the first row that names most of the columns which shelfsync knows, and more than one."""
    known = {number: kinds_among(map(str, row)) for number, row in rows}
    most = max(known.values(), default=0)
    return next(number for number in known if known[number] == most) if most > 1 else None


def as_texts(cells: Sequence[Any]) -> list[str]:
    """Each cell as a text, without spaces around it; empty if it has no value."""
    return [str("" if (value := _value(cell)) is None else value).strip() for cell in cells]


def _filled_texts(cells: Sequence[Any]) -> list[str]:
    """The cells of a row as texts, without a broken one, which may be empty."""
    return ["" if cell == BROKEN else cell for cell in as_texts(cells)]


def _joined(cells: Sequence[Any]) -> str:
    return ", ".join(text for text in as_texts(cells) if text)[:_SHOWN_CHARACTERS]


def _titled(name: str, title: str) -> str:
    """A column of shelfsync, with its title in the sheet where that is another one."""
    return name if title.casefold() == name else f"{name} (column {title!r})"


def _no_row(number: int, cells: Sequence[Any], why: str) -> str:
    return f"row {number + 1}: {why}: {_joined(cells)}"


def _first(sheet: CalamineSheet) -> list[tuple[int, list[Any]]]:
    """The number of each of its first rows from 1, and its cells."""
    return [(number + 1, cells) for number, cells in itertools.islice(_rows(sheet), _ROWS_LOOKED_AT)]


def _filled(workbook: CalamineWorkbook) -> tuple[list[str], CalamineSheet | None]:
    """Its visible sheets that have any cell, and the first of them; the others are not kept in memory."""
    from python_calamine import SheetVisibleEnum

    names: list[str] = []
    first: CalamineSheet | None = None
    for one in workbook.sheets_metadata:
        if (
            one.visible == SheetVisibleEnum.Visible
            and (sheet := workbook.get_sheet_by_name(one.name)).start is not None
        ):
            names.append(one.name)
            first = sheet if first is None else first
    return names, first


def _hidden(workbook: CalamineWorkbook) -> list[str]:
    """Its sheets that a person does not see."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    return [
        one.name
        for one in workbook.sheets_metadata
        if one.typ == SheetTypeEnum.WorkSheet and one.visible != SheetVisibleEnum.Visible
    ]


def _rows(sheet: CalamineSheet) -> Iterator[tuple[int, list[Any]]]:
    """The rows with their numbers in the sheet, from 0; calamine begins at its first row and at the first column that is filled."""
    yield from enumerate(sheet.iter_rows())


def _with_broken(cells: list[Any], left: int, faulty: frozenset[int]) -> list[Any]:
    return [BROKEN if cell == "" and place in faulty else cell for place, cell in enumerate(cells, left)]


def _values(cells: Sequence[Any], *, as_numbers: bool) -> Sequence[Any] | pa.Array:
    """A column. One that holds nothing but numbers is their texts, because Arrow writes them faster than Python."""
    kinds = set(map(type, cells))
    if kinds <= {str}:
        return [cell or None for cell in cells] if "" in cells else cells
    texts_beside = str in kinds and list(map(type, cells)).count(str) > cells.count("")
    if as_numbers or not kinds <= {str, float} or texts_beside:
        return [_value(cell) for cell in cells]
    return number_texts([None if cell == "" else cell for cell in cells] if str in kinds else cells)


def number_texts(numbers: Sequence[float | None]) -> pa.Array:
    """The text of each as `_number` has it. Arrow writes the shortest digits: if they are at most 15, they are the same."""
    found = pa.array(numbers, pa.float64())
    small = pc.less(pc.abs(found), 10.0**_DIGITS_EXACT)
    whole = pc.and_(small, pc.equal(pc.floor(found), found))
    digits = pc.cast(pc.if_else(whole, found, 0.0), pa.int64())
    shown = pc.if_else(whole, digits.cast(pa.string()), found.cast(pa.string()))
    long = pc.or_(pc.greater(pc.utf8_length(shown), _DIGITS_EXACT + 1), pc.match_substring(shown, "e"))
    other = pc.fill_null(pc.and_not(pc.or_(long, pc.invert(small)), whole), False)
    if not pc.any(other).as_py():
        return shown
    exact = [text(_number(number)) for number in found.filter(other).to_pylist()]
    return pc.replace_with_mask(shown, other, pa.array(exact, pa.string()))


def _no_keys(cells: Sequence[Any]) -> Iterator[tuple[int, str]]:
    """Cells that are no key, and what they are: the place of each, from 0."""
    kinds = set(map(type, cells))
    if kinds <= {str} and BROKEN not in cells:
        return
    for place, cell in enumerate(cells):
        if isinstance(cell, str):
            if cell == BROKEN:
                yield place, "is an error, or a formula that no program has calculated"
        elif isinstance(cell, bool) or not isinstance(cell, (int, float)):
            yield place, f"is no text, but {'a truth value' if isinstance(cell, bool) else 'a date or a time'}"
        elif not float(cell).is_integer():
            yield (
                place,
                f"is {_number(cell)}, a number with decimals, whose last zeros are lost; let the ERP write texts",
            )


def _value(cell: Any) -> Any:
    if cell == "":
        return None
    if isinstance(cell, float):
        return _number(cell)
    return cell


def _number(value: float) -> Any:
    """The number as Excel shows it; a whole one beyond 15 digits stays a float, because its last digits are nowhere."""
    if value.is_integer() and abs(value) < 10**_DIGITS_EXACT:
        return int(value)
    if abs(value) >= 10**_DIGITS_EXACT:
        return value if abs(value) >= _EXPONENT_SHOWN else f"{value:.15e}"
    return Decimal(f"{value:.{_DIGITS_EXACT}g}")


def _sheet_path(archive: zipfile.ZipFile, name: str) -> str:
    """Where the archive has the sheet of this name."""
    folder = "xl"
    book = ET.fromstring(archive.read("xl/workbook.xml"))  # noqa: S314  expat bounds what entities expand to
    links = ET.fromstring(archive.read("xl/_rels/workbook.xml.rels"))  # noqa: S314
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    for sheet in book.iter():
        if sheet.tag.endswith("}sheet") and sheet.get("name") == name:
            target = targets.get(_id(sheet), "")
            return target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"{folder}/{target}")
    raise DataError(f"The sheet {name!r} of the workbook is nowhere in it. Nothing was sent; save it again.")


def _id(sheet: ET.Element) -> str | None:
    """The reference of a sheet; the strict form of the format has another name space for it."""
    return sheet.get(_R_ID) or next((value for key, value in sheet.attrib.items() if key.endswith("}id")), None)


@dataclass
class _Seen:
    """What the XML of a sheet has: cells that are errors or formulas without a value, by row and column, each from 0; rows below the header that
    are hidden, and merged cells that reach below it.
    """

    header_row: int
    broken: dict[int, set[int]] = field(default_factory=dict)
    hidden: int = 0
    merged: int = 0

    def look(self, file: Any) -> None:
        """Looks at all of it, piece by piece."""
        rest = b""
        while piece := file.read(_PIECE):
            xml = rest + piece
            end = xml.rfind(b"row>") + len(b"row>")
            if end < len(b"row>"):
                rest = xml
                continue
            rest = xml[end:]
            self._look(xml[:end])
        self._look(rest)

    def notes(self) -> list[str]:
        """Sentences without a full stop."""
        lines = []
        if self.hidden:
            how = "as by a filter, and shelfsync reads them as any other. If they are not meant, delete them"
            lines.append(f"the sheet has hidden rows ({self.hidden:,}), {how}")
        if self.merged:
            how = "The first cell of each has the value, and the others are read as empty: split them"
            lines.append(f"the table has merged cells ({self.merged:,}). {how}")
        return lines

    def _look(self, xml: bytes) -> None:
        _note_broken(xml, self.broken)
        if b"hidden=" in xml:
            self.hidden += sum(int(row) > self.header_row for row in map(_row_number, _HIDDEN.findall(xml)))
        if b"mergeCell " in xml:
            self.merged += sum(int(last) > self.header_row for last in _MERGED.findall(xml))


def _row_number(attributes: bytes) -> int:
    """The number of a row by its attributes; one without a number is taken for one of the table."""
    found = _ROW.search(attributes)
    return int(found[1]) if found is not None else _ROWS_MAX


def _any_sign(xml: bytes) -> bool:
    """Whether it may match _FORMULA or _ERROR; a single letter that it does not have is found out fastest."""
    formula = b"f" in xml and (b"<f" in xml or b":f" in xml)
    return formula or b't="e"' in xml or (b"'" in xml and b"t='e'" in xml)


def _note_broken(xml: bytes, found: dict[int, set[int]]) -> None:
    if not _any_sign(xml):  # a search by a pattern costs as much as all of calamine's work
        return
    if not (_FORMULA.search(xml) or _ERROR.search(xml)):
        return
    for cell in _CELL.finditer(xml):
        kind, inside = cell[1], cell[2] or b""
        empty = _FORMULA.search(inside) and not _VALUE.search(inside) and not _CALCULATED_TEXT.search(kind)
        if not (empty or _ERROR.search(kind)):
            continue
        place = _PLACE.search(kind)
        if place is None:
            raise DataError(
                "A sheet of the workbook has an error or a formula without a value, and does not say in which cell. Nothing was sent; open it"
                " in Excel or LibreOffice and save it again."
            )
        found.setdefault(int(place[2]) - 1, set()).add(_column(place[1].decode()))


def _letters(column: int) -> str:
    """A column as a sheet shows it: 0 is A, 26 is AA."""
    before, last = divmod(column, 26)
    return (_letters(before - 1) if before else "") + chr(ord("A") + last)


def _column(letters: str) -> int:
    """The number of a column, from 0: A is 0, AA is 26."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
