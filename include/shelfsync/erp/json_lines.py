"""A file with one JSON object a line, row by row, with the proofs of a CSV: a line that is no object is quarantined, and a cut last line is reported.

The columns are the keys of the first lines, and of each later line that has one more that is looked for: programs leave out what is null. A
number keeps its digits: it is never a float. A key that is not in a row is null.
"""

from __future__ import annotations

import contextlib
import csv
import json
import re
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from shelfsync.erp import packed_files
from shelfsync.erp.columns import COLUMNS
from shelfsync.erp.csvfile import CsvFile, WrongValueError
from shelfsync.erp.likely_cause import beginning
from shelfsync.erp.text import text
from shelfsync.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shelfsync.erp.address import FoundFile
    from shelfsync.erp.columns import Layout

_LINES_FOR_NAMES = 1000
_BEFORE = "\ufeff\x1e\r\n\t "
"""The marks of an encoding and of a text sequence, and what is blank."""
_TOKEN = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|(?P<rows>\[(?=\s*\{))|(?P<opened>[\[{])|(?P<closed>[\]}])'
)
_PLAIN_KEY = re.compile(r'"[A-Za-z_][A-Za-z_0-9]*"')
_LINE_CHARACTERS_MAX = 2**20
_DIGITS_MAX = 1000
_EXACT = 10**15
"""Below it a program that counts in floats keeps every digit of a whole number."""


class _NoNumber(str):
    """What stands where a number should, and is none that can be counted with: NaN, Infinity, or one beyond all limits. It costs its value alone."""

    __slots__ = ()


_NO_KEYS = (bool, Decimal, list, dict, _NoNumber)


class JsonLines(CsvFile):
    """One file."""

    has_texts_alone = False
    is_delimited = False
    allowed = ("JSON",)

    def __init__(self, found: FoundFile, layout: Layout, encoding: str) -> None:
        super().__init__(found, layout, ",", encoding)
        self._names: tuple[str, ...] | None = None

    def likely_cause(self) -> DataError | None:
        """Why the lines do not have the rows that are looked for: the file is one document that has them inside."""
        begins, _ = beginning(self._found, self._encoding)
        first, _, others = begins.lstrip(_BEFORE).partition("\n")
        path = None if _keys(first) and others.strip() else path_of_rows(begins)
        if path is None:
            return None
        return DataError(
            f"{self._found.name} is one JSON document, and its rows seem to be the objects of {path!r}. Nothing was sent; let the ERP write one"
            f" object a line, or make such a file of it: jq -c '{path}' FILE > FILE.jsonl."
        )

    def _none_read(self, rows: int, first: str) -> DataError:
        return DataError(
            f"Not one of the {rows} lines of {self._found.name} can be read: {first}. Nothing was sent; correct the file, or the"
            f" column by {COLUMNS}."
        )

    def _header(self, reader: Any) -> tuple[str, ...]:  # noqa: ARG002  the first lines are rows too
        if self._names is None:
            self._names = self._keys_of_lines()
        if not self._names:
            raise self.likely_cause() or DataError(
                f"Not one of the first lines of {self._found.name} is a JSON object. Nothing was sent; let the ERP write one object a line."
            )
        return self._names

    @cached_property
    def wanted(self) -> frozenset[str]:
        """The keys that are read, in one case; with a mapping hook, which may read each, none is known."""
        layout = self._layout
        if layout.hook is not None:
            return frozenset()
        names = (layout.columns.get(ours, ours) for ours in layout.extract.names if ours not in layout.constants)
        return frozenset(name.strip().casefold() for name in names)

    def _keys_of_lines(self) -> tuple[str, ...]:
        with self._open() as file:
            lines = iter(lambda: file.readline(_LINE_CHARACTERS_MAX), "")
            names = {name: None for line in islice(lines, _LINES_FOR_NAMES) for name in _keys(line)}
            missing = self.wanted - {name.strip().casefold() for name in names} if names else frozenset()
            with contextlib.suppress(
                UnicodeError, *packed_files.CUT
            ):  # the reading of the rows reports it at its place
                while missing and (line := next(lines, "")):
                    folded = line.casefold()
                    if any(f'"{name}"' in folded for name in missing):
                        late = [name for name in _keys(line) if name.strip().casefold() in missing]
                        names |= dict.fromkeys(late)
                        missing -= {name.strip().casefold() for name in late}
        return tuple(names)

    def _reader(self, lines: Iterator[str]) -> Any:
        return _Objects(lines, self)

    def _cells(self, column: Sequence[Any]) -> list[Any]:
        return [None if value == "" else value for value in column]

    def _place_of(self, ours: str, names: tuple[str, ...]) -> None:
        """No total stands below objects."""

    def keys(self, names: tuple[str, ...]) -> dict[str, str]:
        """The names of vendor and SKU among these; a mapping hook judges them itself."""
        if self._layout.hook is not None:
            return {}
        try:
            sources = self._layout.sources(names, self._found.name, vendor=self._found.vendor)
        except ConfigurationError:  # without settings, as for a proposal
            return {}
        return {name: sources[name] for name in ("vendor", "sku") if name in sources}

    def _is_whole(self, last: str) -> bool:
        return last.rstrip().endswith("}")  # otherwise it is no object, and was reported


class _Objects:
    """The rows of the lines: the values of `names` of each object."""

    def __init__(self, lines: Iterator[str], file: JsonLines) -> None:
        self._lines = lines
        self._file = file
        self._names: tuple[str, ...] | None = None
        self._keys: dict[str, str] = {}

    def __iter__(self) -> _Objects:
        return self

    def __next__(self) -> list[Any]:
        line = next(self._lines)
        if not line.strip(_BEFORE):
            return []
        if self._names is None:
            self._names = self._file.names()
            self._keys = self._file.keys(self._names)
        try:
            found = _object(line)
        except (ValueError, RecursionError) as error:
            raise csv.Error(f"no JSON object ({str(error)[:80]})") from None
        wanted = self._file.wanted
        late = (name for name in found if name not in self._names)
        unknown = next((name for name in late if not wanted or name.strip().casefold() in wanted), None)
        if unknown is not None:
            raise csv.Error(f"the key {unknown!r} is not in the first {_LINES_FOR_NAMES} lines")
        wrong = [name for name in self._keys.values() if isinstance(found.get(name), _NO_KEYS)]
        if wrong:
            vendor = self._keys.get("vendor")
            raise WrongValueError(
                f"{wrong[0]!r} is {_kind(found[wrong[0]])}, and a key is a text or a whole number",
                None if vendor is None or vendor in wrong else text(found.get(vendor)),
            )
        return [_value(found.get(name)) for name in self._names]


def path_of_rows(document: str) -> str | None:
    """Where the first list of objects stands in a JSON document, by its beginning, as a filter of jq; None: in none of it."""
    path, key = list[str](), ""
    for found in _TOKEN.finditer(document):
        if name := found["key"]:
            key = f".{name[1:-1]}" if _PLAIN_KEY.fullmatch(name) else f".{name}"
        elif found["rows"]:
            return f"{''.join(path) + key or '.'}[]"
        elif found["opened"]:
            path.append(key)
            key = ""
        elif found["closed"] and path:
            path.pop()
    return None


def _keys(line: str) -> list[str]:
    try:
        return list(_object(line))
    except (ValueError, RecursionError):
        return []


def _object(line: str) -> dict[str, Any]:
    found = json.loads(
        line.lstrip(_BEFORE),
        parse_float=_number,
        parse_int=_whole,
        parse_constant=_NoNumber,
        object_pairs_hook=_without_repeats,
    )
    if not isinstance(found, dict):
        raise ValueError("it is another value")  # noqa: TRY004  the caller reports every line alike
    return found


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it has a key twice")
    return found


def _kind(value: Any) -> str:
    return (
        "a list"
        if isinstance(value, list)
        else "an object"
        if isinstance(value, dict)
        else f"a number with a point or an exponent ({value})"
        if isinstance(value, Decimal)
        else f"no number ({value[:40]})"
        if isinstance(value, _NoNumber)
        else "a truth value"
    )


def _number(digits: str) -> Any:
    """A number with a point or an exponent; a whole one such as 100005.0 is its digits, unless an exponent hides some of them."""
    try:
        value = Decimal(digits)
    except ArithmeticError:
        return _NoNumber(digits)
    if "e" in digits.lower():
        return value
    return int(value) if -_EXACT < value < _EXACT and value == value.to_integral_value() else value


def _whole(digits: str) -> Any:
    return int(digits) if len(digits) <= _DIGITS_MAX else _NoNumber(digits)


def _value(value: Any) -> Any:
    return json.dumps(value, default=str, ensure_ascii=False) if isinstance(value, (dict, list)) else value
