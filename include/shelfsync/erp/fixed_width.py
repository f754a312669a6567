"""A text whose columns stand at fixed characters of each line, row by row, with the proofs of a CSV. Spaces around a value are padding.

A line that ends before its last column begins is quarantined; a sum and a drawn line are no rows.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any

from shelfsync.erp.csvfile import CsvFile
from shelfsync.erp.text_shape import is_rule, is_total_line, totals_line
from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from shelfsync.erp.address import FoundFile
    from shelfsync.erp.columns import Layout

FIXED_WIDTH = "SHELFSYNC_ERP__FIXED_WIDTH"
_PLACE = re.compile(r"\s*([0-9]{1,6})\s*(?:-\s*([0-9]{1,6})\s*)?")


class FixedWidth(CsvFile):
    """One file. `places`: column -> its first and last character, from 1. The rows begin below the line `header_row`, if there is one."""

    def __init__(
        self, found: FoundFile, layout: Layout, places: Mapping[str, str], encoding: str, header_row: int | None
    ) -> None:
        super().__init__(found, layout, "\t", encoding, (header_row or 0) + 1, quoted=False)
        if not places:
            raise ConfigurationError(FIXED_WIDTH, "it is not set", 'Name the columns: {"sku": "1-8", "price": "9-16"}.')
        self._columns = {name: _place(name, text) for name, text in places.items()}

    def likely_cause(self) -> None:
        """The settings name the columns, so the beginning of the file shows no other cause."""

    def _header(self, reader: Any) -> tuple[str, ...]:  # noqa: ARG002  the settings have the names
        return tuple(self._columns)

    def _reader(self, lines: Iterator[str]) -> Any:
        return _Slices(lines, tuple(self._columns.values()))

    def _is_whole(self, last: str) -> bool:
        return len(last) >= max(end for _, end in self._columns.values())


class _Slices:
    def __init__(self, lines: Iterator[str], places: Sequence[tuple[int, int]]) -> None:
        self._lines = lines
        self._slices = [slice(*place) for place in places]
        self._least = max(start for start, _ in places) + 1

    def __iter__(self) -> _Slices:
        return self

    def __next__(self) -> list[str]:
        line = next(self._lines).rstrip("\r\n").lstrip("\ufeff")
        if not line.strip():
            return []
        cells = [line[part].strip() for part in self._slices]
        is_short = len(line) < self._least
        if (is_short and is_rule([line])) or ((is_short or not totals_line([cells[0], ""])) and is_total_line(line)):
            return [
                " ".join(line.split())
            ]  # one cell: what a program wrote beside the rows, over the places of columns
        if is_short:
            raise csv.Error(f"{len(line)} characters, and the last column begins at {self._least}")
        return cells


def _place(name: str, text: str) -> tuple[int, int]:
    found = _PLACE.fullmatch(text)
    start, end = (int(found[1]), int(found[2] or found[1])) if found is not None else (0, 0)
    if not 1 <= start <= end:
        raise ConfigurationError(
            FIXED_WIDTH,
            f"{text!r} of {name!r} is no place",
            "Write the first and the last character, from 1, such as 9-16.",
        )
    return start - 1, end
