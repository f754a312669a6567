"""The settings that a file seems to need, each with what speaks for it and against it. It proposes; the operator decides.

It reads the first MiB of a file and the end of it; a workbook whole, within its ceiling. It needs neither settings nor a database.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shelfsync.erp import address, column_kinds, first_bytes, packed_files, proposed_fixed_widths
from shelfsync.erp.column_kinds import NULLS
from shelfsync.erp.columns import CATALOG, Chunk, Layout
from shelfsync.erp.doubtful_columns import are_whole
from shelfsync.erp.files import FilesSource, format_by_ending
from shelfsync.erp.json_lines import JsonLines
from shelfsync.erp.no_row import folded, is_rule, names_again, totals_line
from shelfsync.erp.number_notation import NUMBERS, Notation, is_written
from shelfsync.erp.parquet import ParquetFile
from shelfsync.erp.proposed_delimiter import SHOWN, Shape, shape_of
from shelfsync.erp.proposed_number_style import style_of
from shelfsync.erp.text import ESCAPING, texts
from shelfsync.erp.text_encoding import encoding_of
from shelfsync.erp.workbook import Workbook, as_texts, names_row
from shelfsync.errors import ConfigurationError, DataError, ShelfsyncError, some_of, without_stop
from shelfsync.rows.check_digit import is_gtin
from shelfsync.rows.number import read as numbers_of
from shelfsync.rows.odd_characters import characters_of, is_odd
from shelfsync.settings import ErpSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from shelfsync.erp.address import FoundFile
    from shelfsync.erp.column_kinds import Guess

HEAD_BYTES = 2**20
TAIL_BYTES = 2**16
_ROWS = 2000
_TRIAL_ROWS = 500
_SAMPLES = 3
_CHARACTERS = 40
_WORKBOOK = "a workbook"
_PREFIX = "SHELFSYNC_ERP__"
_NOTATION = ("DECIMAL_MARK", "THOUSANDS_MARK", "MINUS", "CURRENCIES")


@dataclass(frozen=True)
class ProposedColumn:
    """A column of the file; `guess` is what it may be in shelfsync, `used` whether the settings take it for that."""

    name: str
    guess: Guess | None
    used: bool
    samples: tuple[str, ...]


@dataclass
class Proposal:
    """`settings` by their names without the prefix; `unsure` are sentences without a full stop."""

    file: str
    kind: str
    rows_seen: int = 0
    settings: dict[str, str] = field(default_factory=dict)
    columns: list[ProposedColumn] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    verdict: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For a script."""
        return {
            "file": self.file,
            "kind": self.kind,
            "rows_seen": self.rows_seen,
            "settings": {_PREFIX + name: value for name, value in self.settings.items()},
            "columns": [
                {
                    "name": column.name,
                    "column": column.guess.kind if column.guess else None,
                    "used": column.used,
                    "sure": bool(column.guess and column.guess.sure),
                    "for": column.guess.why if column.guess else None,
                    "against": (column.guess.against or None) if column.guess else None,
                    "samples": list(column.samples),
                }
                for column in self.columns
            ],
            "unsure": self.unsure,
            "verdict": self.verdict,
        }

    def lines(self) -> list[str]:
        """For a person; the settings as a shell hands them on to the commands that it starts."""
        lines = [f"{self.file} looks like {self.kind}; {self.rows_seen:,} rows of it were looked at."]
        lines += [
            "",
            "settings to paste into a shell (in shelfsync.env without export and without quotes around a value):",
            *(f"export {_PREFIX}{name}={shlex.quote(value)}" for name, value in self.settings.items()),
        ]
        if self.columns:
            lines += ["", "columns:", *(_column_line(column) for column in self.columns)]
        if self.unsure:
            lines += ["", "not sure:", *(f"- {doubt}." for doubt in self.unsure)]
        return [*lines, "", self.verdict]


def _column_line(column: ProposedColumn) -> str:
    samples = f"; such as {', '.join(repr(sample) for sample in column.samples)}" if column.samples else "; empty"
    if column.guess is None:
        return f"  {column.name!r}: not used{samples}"
    how = "sure" if column.guess.sure else "likely"
    kind = f"{column.guess.kind}, {how}" if column.used else f"not used, though it may be {column.guess.kind}"
    against = f", but {column.guess.against}" if column.guess.against else ""
    return f"  {column.name!r}: {kind}, by {column.guess.why}{against}{samples}"


@dataclass(frozen=True)
class _Table:
    """Columns of texts; `typed`: by a column, its cells that are no texts in the file, so that their notation is no question."""

    names: tuple[str, ...]
    columns: Sequence[Sequence[str]]
    typed: Mapping[str, Sequence[bool]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def written(self, place: int) -> Sequence[str]:
        """The cells of a column that are texts in the file."""
        typed = self.typed.get(self.names[place])
        cells = self.columns[place]
        return cells if typed is None else [cell for cell, no_text in zip(cells, typed, strict=True) if not no_text]


def sniff(where: str) -> Proposal:
    """The settings that the file at an address seems to need; of several files, the last by name.

    Raises ConfigurationError or DataError in one line if there is nothing that shelfsync can read.
    """
    found = address.find(where, endings=("",), setting="FILE")
    file = found[-1]
    proposal = Proposal(address.shown(file.path), "", settings={"FILES": _from_anywhere(where)})
    if len(found) > 1:
        proposal.unsure.append(f"{address.shown(where)} has {len(found)} files; only the last by name was looked at")
    try:
        head, whole = _head(file)
        table = _read(file, head, proposal, whole=whole)
    except ShelfsyncError:
        raise
    except Exception as error:  # noqa: BLE001  a reader of foreign bytes may raise anything
        raise DataError(
            f"{file.name} cannot be understood: {type(error).__name__}: {without_stop(error, 200)}."
        ) from None
    proposal.rows_seen = table.rows
    _propose_columns(table, proposal, where)
    proposal.verdict = _verdict(proposal, file)
    return proposal


def _from_anywhere(where: str) -> str:
    """The address as a process in another folder finds it: a scheduler's task starts elsewhere."""
    return where if "://" in where else str(Path(where).absolute())


_BLANK = b"\xef\xbb\xbf\xff\xfe \t\r\n"
"""The marks of encodings, spaces and the ends of lines: of a file with nothing else there is nothing to read."""


def _head(file: FoundFile) -> tuple[bytes, bool]:
    try:
        with packed_files.open_unpacked(file) as binary:
            head = binary.read(HEAD_BYTES + 1)
    except packed_files.CUT as error:
        raise DataError(
            f"{file.name} cannot be read: {without_stop(error, 200)}. Let the ERP write it again."
        ) from None
    if not head.strip(_BLANK):
        raise DataError(f"{file.name} is empty. Let the ERP write it again.")
    return head[:HEAD_BYTES], len(head) <= HEAD_BYTES


def _tail(file: FoundFile) -> bytes:
    """The end of a file that is not packed."""
    try:
        with file.fs.open(file.path, "rb") as binary:
            size = binary.seek(0, 2)
            binary.seek(max(0, size - TAIL_BYTES))
            data: bytes = binary.read(TAIL_BYTES)
    except (OSError, ValueError):
        return b""
    return data


def _read(file: FoundFile, head: bytes, proposal: Proposal, *, whole: bool) -> _Table:
    kind = first_bytes.of(head)
    if kind is not None and kind.format == "parquet":
        return _parquet(file, proposal)
    if kind is not None and kind.format == "workbook":
        return _workbook(file, proposal)
    if kind is not None and kind.format == "jsonl":
        proposal.kind = "JSON lines"
        _format_setting(file, proposal, "jsonl")
        lines = JsonLines(file, Layout({}, {}), "utf-8-sig")
        if (cause := lines.likely_cause()) is not None:
            raise cause
        with contextlib.closing(lines.chunks(_TRIAL_ROWS)) as chunks:
            return _of_chunk(next(chunks))
    if kind is not None:
        raise ConfigurationError("FILE", f"{file.name} is {kind.name}, by its first bytes", kind.remedy)
    encoding = encoding_of(head)
    if encoding is None:
        raise DataError(
            f"{file.name} is no text, and of no kind that shelfsync reads. Let the ERP write CSV, Parquet or a workbook."
        )
    text = head.decode(encoding.name, ESCAPING)
    proposal.unsure += encoding.doubts
    if encoding.name != "utf-8-sig":
        proposal.settings["CSV_ENCODING"] = encoding.name
    return _csv(file, text, proposal, whole=whole, tail=b"" if whole else _tail(file))


def _format_setting(file: FoundFile, proposal: Proposal, name: str) -> None:
    if format_by_ending(file.path) != name:
        proposal.settings["FILE_FORMAT"] = name


def _parquet(file: FoundFile, proposal: Proposal) -> _Table:
    proposal.kind = "a Parquet file"
    _format_setting(file, proposal, "parquet")
    chunk = ParquetFile(file, Layout({}, {})).first_rows(_ROWS)
    return _of_chunk(chunk)


def _of_chunk(chunk: Chunk) -> _Table:
    return _table(chunk.names, chunk.columns)


def _table(names: tuple[str, ...], columns: Sequence[Any]) -> _Table:
    """The table of columns of any values."""
    typed = {}
    for name, column in zip(names, columns, strict=True):
        written = is_written(column)
        if written is not True:
            typed[name] = [True] * len(column) if written is False else [not one for one in written.to_pylist()]
    return _Table(names, [[value or "" for value in texts(column).to_pylist()] for column in columns], typed)


def _workbook(file: FoundFile, proposal: Proposal) -> _Table:
    proposal.kind = _WORKBOOK
    _format_setting(file, proposal, "workbook")
    filled, sheet, rows = Workbook(file, Layout({}, {}), None, 1).first_rows(_ROWS)
    if len(filled) > 1:
        proposal.settings["SHEET"] = sheet
        proposal.unsure.append(
            f"the workbook has the sheets {some_of(filled)}; {sheet!r} was looked at. If another has the stock, set {_PREFIX}SHEET"
        )
    header = names_row(rows[:30])
    if header is None:
        header = next((number for number, row in rows[:30] if all(isinstance(cell, str) and cell for cell in row)), 1)
        proposal.unsure.append(
            f"no row of the sheet has names that shelfsync knows; row {header} was taken for the names of the columns"
        )
    if header > 1:
        proposal.settings["HEADER_ROW"] = str(header)
    proposal.unsure += Workbook(file, Layout({}, {}), sheet, header).notes_of(sheet)
    names = next((row for number, row in rows if number == header), [])
    filled_rows = [(number, row) for number, row in rows if number > header and any(as_texts(row))]
    if filled_rows and totals_line(as_texts(filled_rows[-1][1])):
        number, row = filled_rows.pop()
        shown = ", ".join(filter(None, as_texts(row)))[:60]
        proposal.unsure.append(
            f"the last row, row {number}, looks like a total and no row: {shown!r}; if it has no SKU, shelfsync quarantines it"
        )
    titled = folded(names)
    if again := [number for number, row in filled_rows if names_again(row, titled)]:
        proposal.unsure.append(
            f"the names of the columns stand again in row {again[0]}; shelfsync quarantines such a row"
        )
    below = [row for _, row in filled_rows if not names_again(row, titled)]
    cells = [[row[place] if place < len(row) else None for row in below] for place in range(len(names))]
    titles = tuple(str(name or "").strip() or f"column {place}" for place, name in enumerate(names, 1))
    return _table(titles, cells)


def _csv(file: FoundFile, text: str, proposal: Proposal, *, whole: bool, tail: bytes) -> _Table:
    text = text.rstrip("\x1a")
    shape = shape_of(text, whole=whole)
    if shape is None or proposed_fixed_widths.is_inside_numbers(shape.delimiter, text):
        places = proposed_fixed_widths.of(text, whole=whole)
        if places is not None:
            return _fixed(places, proposal)
    if shape is None:
        raise DataError(
            f"{file.name} is text, but no delimiter (comma, semicolon, tab, pipe) splits its lines into columns, and no character is blank in"
            " every line. Look at the file; if its columns have fixed widths, name their places by SHELFSYNC_ERP__FIXED_WIDTH."
        )
    word = SHOWN.get(shape.delimiter, shape.delimiter)
    proposal.kind = f"a CSV with {word if len(word) > 1 else repr(word)} as delimiter"
    _format_setting(file, proposal, "csv")
    if shape.delimiter != ",":
        proposal.settings["CSV_DELIMITER"] = word
    if not shape.quoted:
        proposal.settings["CSV_QUOTING"] = "none"
        proposal.unsure.append(
            "a quote stands inside cells and does not enclose them, so it is taken for a character as any other"
        )
    if shape.rivals:
        others = ", ".join(repr(SHOWN.get(one, one)) for one in shape.rivals)
        proposal.unsure.append(f"{others} would split the lines as evenly as {word!r}")
    if shape.header is None:
        proposal.unsure.append("no line looks like the names of the columns. shelfsync needs one: let the ERP write it")
    elif shape.header > 1:
        proposal.settings["HEADER_ROW"] = str(shape.header)
    _tell_lines(shape, text, tail, proposal)
    names = shape.names[: -1 if shape.trailing else None] or tuple(
        f"column {place + 1}" for place in range(shape.width)
    )
    titled = folded(names)
    rows = [
        row for _, row in shape.rows if len(row) == len(names) and not names_again(row, titled) and not is_rule(row)
    ]
    return _Table(names, [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names])


def _fixed(found: proposed_fixed_widths.Places, proposal: Proposal) -> _Table:
    """A text without delimiters: its columns by the characters that are blank in every line."""
    proposal.kind = "a text with columns of fixed width"
    proposal.settings["FIXED_WIDTH"] = json.dumps(
        {name: f"{start + 1}-{end}" for name, (start, end) in zip(found.names, found.places, strict=True)},
        ensure_ascii=False,
    )
    if found.header is not None:
        proposal.settings["HEADER_ROW"] = str(found.header)
    proposal.unsure.append(
        f"the places of the columns are those of {len(found.rows):,} lines. A longer value elsewhere would be cut, and two columns without a"
        " blank between them are one: compare them with the description of the file"
    )
    proposal.unsure += [
        f"line {some_of(map(str, lines))} {what}; shelfsync quarantines it"
        for lines, what in (
            (found.rules, "is drawn between rows"),
            (found.again, "has the names of the columns again"),
            (found.totals, "looks like a total and no row"),
        )
        if lines
    ]
    return _Table(found.names, [list(column) for column in zip(*found.rows, strict=True)])


def _tell_lines(shape: Shape, text: str, tail: bytes, proposal: Proposal) -> None:
    """What single lines have."""
    if shape.sep_line is not None:
        proposal.unsure.append(f"line {shape.sep_line} is for Excel alone (sep=); HEADER_ROW leaves it out")
    if shape.trailing:
        proposal.unsure.append(
            "the line with the names ends with a delimiter, which the rows do not have: let the ERP write both alike"
        )
    if shape.again is not None:
        proposal.unsure.append(
            f"the names of the columns stand again in line {shape.again}; shelfsync quarantines such a line"
        )
    if rules := [number for number, row in shape.rows if is_rule(row)]:
        proposal.unsure.append(f"line {rules[0]} is drawn between rows; shelfsync quarantines such a line")
    if shape.names and shape.width != len(shape.names) and not shape.trailing:
        proposal.unsure.append(_other_width(shape))
    if any(cell[:1] == " " and cell.lstrip()[:1] == '"' for cell in shape.names):
        proposal.unsure.append(
            "a quote stands behind a blank and encloses no cell; let the ERP write no blank behind the delimiter"
        )
    odd = [number for number, row in shape.rows if len(row) != shape.width and not is_rule(row)]
    if odd:
        proposal.unsure.append(
            f"{len(odd)} lines have another number of cells, the first is line {odd[0]}; shelfsync quarantines such lines"
        )
    bare = tail.replace(b"\0", b"").decode("utf-8", "replace") if tail else text
    last = re.split(r"[\r\n]+", bare.rstrip("\r\n\x1a "))[-1].split(shape.delimiter)
    if totals_line(last):
        proposal.unsure.append(
            f"the last line looks like a total and no row: {shape.delimiter.join(last)[:60]!r}; if it has no SKU, shelfsync quarantines it"
        )
    if not bare.rstrip("\x1a").endswith(("\n", "\r")):
        proposal.unsure.append(
            "the file does not end with a line break, so shelfsync sends nothing of it without a control file"
        )


def _other_width(shape: Shape) -> str:
    """Why no row has the cells of the names."""
    rows = [row for _, row in shape.rows if len(row) == shape.width]
    if shape.width == len(shape.names) + 1 and not any(row[-1].strip() for row in rows):
        return (
            "the rows end with a delimiter, which the line with the names does not have: let the ERP write both alike"
        )
    comma = "; a decimal comma without quotes splits a number" if shape.delimiter == "," else ""
    return f"the line with the names has {len(shape.names)} cells and the rows have {shape.width}{comma}"


def _propose_columns(table: _Table, proposal: Proposal, where: str) -> None:
    guesses = {}
    for place, (name, values) in enumerate(zip(table.names, table.columns, strict=True)):
        guess = column_kinds.guess(name, values)
        guesses[place] = guess if guess is not None and guess.kind in CATALOG.names else None
    chosen: dict[str, int] = {}
    for kind in CATALOG.names:
        rivals = [place for place, one in guesses.items() if one is not None and one.kind == kind]
        rivals.sort(key=lambda place: (guesses[place].why != "its name", bool(guesses[place].against), place))  # type: ignore[union-attr]
        if rivals:
            chosen[kind] = rivals[0]
        if len(rivals) > 1:
            names = some_of([repr(table.names[place]) for place in rivals])
            proposal.unsure.append(f"{len(rivals)} columns may be {kind}: {names}; the first is proposed")
    used = set(chosen.values())
    proposal.columns += [
        ProposedColumn(name, guesses[place], place in used, _samples(table.columns[place]))
        for place, name in enumerate(table.names)
    ]
    mapped = {
        kind: table.names[place] for kind, place in chosen.items() if table.names[place].strip().casefold() != kind
    }
    if mapped:
        proposal.settings["COLUMNS"] = json.dumps(mapped, ensure_ascii=False)
    proposal.unsure += [
        f"{table.names[place]!r} is taken for {kind} by {one.why}{f', but {one.against}' if one.against else ''}"
        for kind, place in chosen.items()
        if table.rows and (one := guesses[place]) is not None and not one.sure
    ]
    proposal.unsure += [line for kind in ("vendor", "sku") if kind in chosen for line in _odd_keys(table, chosen[kind])]
    if proposal.kind == _WORKBOOK:
        proposal.unsure += [
            f"{table.names[chosen[kind]]!r} has numbers, so zeros in front, as a format may show them, are not in the file; let the ERP write texts"
            for kind in ("vendor", "sku")
            if kind in chosen and any(table.typed.get(table.names[chosen[kind]], ()))
        ]
    _propose_missing(table, proposal, chosen, where)
    _propose_notation(table, proposal, chosen)
    numbers = [place for kind, place in chosen.items() if kind in NUMBERS and not guesses[place].against]  # type: ignore[union-attr]
    proposal.unsure += _unread(table, numbers, proposal)
    if "price" in chosen and are_whole([cell.strip() for cell in table.columns[chosen["price"]] if cell.strip()]):
        proposal.unsure.append(
            f"each {table.names[chosen['price']]!r} is whole. If the ERP counts in cents, shelfsync would send 150 as 150.00: let it write the point,"
            " or divide by a hook"
        )


def _odd_keys(table: _Table, place: int) -> Iterator[str]:
    """Keys that are another key only to a machine: each of them is a row that will not be sent."""
    keys = pa.array(table.columns[place], pa.string())
    odd = keys.filter(pa.array(is_odd(keys)))
    if len(odd):
        what = characters_of(odd)[0].as_py()
        yield (
            f"{len(odd):,} of {len(keys):,} cells of {table.names[place]!r} are another key to a machine than to a person, such as {odd[0].as_py()!r}{what};"
            " shelfsync quarantines their rows"
        )


def _samples(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        value[:_CHARACTERS] for value in list(dict.fromkeys(value for value in values if value.strip()))[:_SAMPLES]
    )


def _propose_missing(table: _Table, proposal: Proposal, chosen: Mapping[str, int], where: str) -> None:
    """What no column is by its name."""
    free = [place for place in range(len(table.names)) if place not in chosen.values()]
    if "vendor" not in chosen and address.VENDOR not in where:
        few = [
            repr(table.names[place]) for place in free if 0 < len(set(table.columns[place])) <= max(1, table.rows // 20)
        ]
        hint = f" ({some_of(few)} repeats its values)" if few else ""
        proposal.unsure.append(
            f"no column has the name of a store{hint}. If one is, name it in {_PREFIX}COLUMNS; if the file is one store's, set"
            f""" {_PREFIX}CONSTANTS='{{"vendor": "<vendor>"}}', or write {{vendor}} into {_PREFIX}FILES"""
        )
    if "sku" not in chosen:
        unique = [
            repr(table.names[place])
            for place in free
            if table.rows and len(set(table.columns[place])) == table.rows and all(table.columns[place])
        ]
        hint = f" ({some_of(unique)} has another value in each row)" if unique else ""
        proposal.unsure.append(f"no column has the name of a SKU{hint}. Name it in {_PREFIX}COLUMNS")
    if not {"price", "quantity", "active", "max_sales_quantity"} & set(chosen):
        proposal.unsure.append(
            f"no column has the name of a price, a quantity or active. Name at least one in {_PREFIX}COLUMNS"
        )
    prices = [repr(table.names[place]) for place in free if column_kinds.is_like_prices(table.columns[place])]
    if "price" not in chosen and prices:
        proposal.unsure.append(
            f"no column has the name of a price, and {some_of(prices)} has numbers like prices. If one is the price, name it in {_PREFIX}COLUMNS"
        )
    if "active" not in chosen:
        for place in free:
            words = list(dict.fromkeys(value.strip() for value in table.columns[place] if value.strip()))
            if len(words) == 2 and column_kinds.is_truth(words):
                proposal.unsure.append(
                    f"{table.names[place]!r} has {words[0]!r} and {words[1]!r}. If it says whether a product is on sale, name it in {_PREFIX}COLUMNS as"
                    f" active, the word for yes in {_PREFIX}TRUE_WORDS and the other in {_PREFIX}FALSE_WORDS"
                )
    gtins = [
        repr(table.names[place])
        for place in free
        if (values := [value for value in table.columns[place] if value]) and all(map(is_gtin, values))
    ]
    if "barcode" not in chosen and gtins:
        proposal.unsure.append(
            f"{some_of(gtins)} has barcodes with right check digits; if it is one, name it in {_PREFIX}COLUMNS"
        )


def _propose_notation(table: _Table, proposal: Proposal, chosen: Mapping[str, int]) -> None:
    written = {kind: cells for kind, place in chosen.items() if any(cells := table.written(place))}
    style = style_of({table.names[chosen[kind]]: values for kind, values in written.items() if kind in NUMBERS})
    settings = proposal.settings
    for name, value in (
        ("DECIMAL_MARK", style.decimal_mark),
        ("THOUSANDS_MARK", style.thousands_mark),
        ("MINUS", style.minus),
        ("CURRENCIES", json.dumps(style.currencies, ensure_ascii=False) if style.currencies else None),
    ):
        if value is not None:
            settings[name] = value
    proposal.unsure += style.doubts
    proposal.unsure += _beside_texts(table, {kind: place for kind, place in chosen.items() if kind in NUMBERS})
    nulls = {
        value.strip(): None for values in written.values() for value in values if value.strip().casefold() in NULLS
    }
    if nulls:
        settings["NULL_WORDS"] = json.dumps(list(nulls), ensure_ascii=False)
        proposal.unsure.append(f"{some_of(map(repr, nulls))} is taken for 'no value'")
    if "active" in written:
        cells = written["active"]
        empty = sum(not cell.strip() for cell in cells)
        if empty and len({cell.strip() for cell in cells}) == 2:
            proposal.unsure.append(
                f"{empty:,} of {len(cells):,} cells of active are empty, which is no statement: such a product stays as it is. If empty means off sale,"
                " let the ERP write a word for it"
            )
        true, false, unknown = column_kinds.truth_words(written["active"])
        if true:
            settings["TRUE_WORDS"] = json.dumps(true, ensure_ascii=False)
        if false:
            settings["FALSE_WORDS"] = json.dumps(false, ensure_ascii=False)
        taken = [
            f"{some_of(map(repr, words))} is taken for {what}"
            for words, what in ((true, "true"), (false, "false"))
            if words
        ]
        if taken:
            proposal.unsure.append(f"in active {' and '.join(taken)}")
        if unknown:
            proposal.unsure.append(
                f"in active shelfsync does not know {some_of(map(repr, unknown))}: put each into {_PREFIX}TRUE_WORDS or {_PREFIX}FALSE_WORDS"
            )


def _beside_texts(table: _Table, places: Mapping[str, int]) -> Iterator[str]:
    """Numbers of the file beside numbers that it writes as texts."""
    for place in places.values():
        texts_of = [cell for cell in table.written(place) if cell.strip()]
        numbers = sum(map(bool, table.columns[place])) - len(texts_of)
        if texts_of and numbers > 0:
            yield (
                f"{numbers:,} of {numbers + len(texts_of):,} cells of {table.names[place]!r} are numbers and no texts; shelfsync reads those as they"
                f" are, and texts such as {texts_of[0].strip()!r} by the settings"
            )


def _unread(table: _Table, places: Sequence[int], proposal: Proposal) -> Iterator[str]:
    """Numbers to a person that are none in the proposed notation."""
    given = {name.lower(): _value(proposal.settings[name]) for name in _NOTATION if name in proposal.settings}
    notation = Notation.of(ErpSettings(**given))
    for place in places:
        name = table.names[place]
        cells = pa.array([cell for cell in table.written(place) if cell.strip()], pa.string())
        unread = cells.filter(numbers_of(notation.plain("price", cells, written=True)).magnitude.is_null())
        odd = [cell for cell in unread.to_pylist() if cell.strip().casefold() not in NULLS]
        if odd and not any(repr(odd[0].strip()) in told for told in proposal.unsure):
            yield (
                f"{len(odd):,} of {len(cells):,} numbers of {name!r} are not read with these settings, such as {odd[0].strip()!r};"
                " shelfsync quarantines them"
            )


def _verdict(proposal: Proposal, file: FoundFile) -> str:
    """Whether shelfsync finds its columns with the proposed settings, by the reader of a run."""
    given = {name.lower(): _value(value) for name, value in proposal.settings.items()}
    try:
        settings = ErpSettings(**given | {"files": given["files"]})
        layout = Layout.of(settings)
        reader = FilesSource(settings, layout).reader(file)
        layout.sources(reader.names(), file.name, vendor=file.vendor)
        with contextlib.closing(reader.chunks(_TRIAL_ROWS)) as chunks:
            styles = layout.styles(file.name)
            layout.raw(next(chunks), number=1, first_row=1, styles=styles)
            styles.check()
        if isinstance(reader, Workbook):
            proposal.unsure += [note for note in reader.notes if note not in proposal.unsure]
    except ShelfsyncError as error:
        return f"With these settings shelfsync does not read it yet: {error}"
    except ValueError as error:
        return f"With these settings shelfsync does not read it yet: {without_stop(error, 300)}."
    return "With these settings shelfsync reads its columns. Set them, then run `shelfsync check` and `shelfsync plan`."


def _value(text: str) -> Any:
    return json.loads(text) if text[:1] in "[{" and text[-1:] in "]}" else text
