"""What a sheet shows of a number that is more or less than the number: the formats of cells of xlsx and xlsm.

| format | the cell has | the sheet shows |
|---|---|---|
| `0.00` | 7.995 | 8.00 |
| `0%` | 1 | 100% |
| `000000` | 123 | 000123 |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import IO, TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Collection, Mapping

MONEY_DECIMALS = 2
_STYLES = "xl/styles.xml"
_PIECE = 4 * 2**20
_BUILT_IN = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    37: "#,##0",
    38: "#,##0",
    39: "#,##0.00",
    5: "#,##0",
    6: "#,##0",
    7: "#,##0.00",
    8: "#,##0.00",
    40: "#,##0.00",
    41: "#,##0",
    42: "#,##0",
    43: "#,##0.00",
    44: "#,##0.00",
}
"""The formats that every file has under these numbers, as far as they show plain numbers."""
_BESIDE_DIGITS = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|_.|\*.')
"""Text, colours, currencies, blanks and padding of a format."""
_CONDITION = re.compile(r"\[[<>=]")
_NUMBER = re.compile(r"(?P<whole>[#0?,]*)(?:\.(?P<part>[#0?]*))?(?P<percent>%?)")
_DIGITS_EXACT = 15


@dataclass(frozen=True)
class CellFormat:
    """How a number is shown: its decimals, whether as a percentage, and the digits that zeros in front fill."""

    code: str
    decimals: int
    is_percentage: bool
    digits: int

    def shown(self, value: float) -> Decimal:
        """The number that a person reads."""
        exact = Decimal(f"{value:.{_DIGITS_EXACT}g}") * (100 if self.is_percentage else 1)
        if abs(exact) >= 10**_DIGITS_EXACT:  # no price, which a later step reports of its row
            return exact
        return exact.quantize(Decimal(1).scaleb(-self.decimals), ROUND_HALF_UP)


def of_code(code: str) -> CellFormat | None:
    """The format of this code; None for a general one, a date, a fraction, an exponent, thousands, or one with a condition."""
    if _CONDITION.search(code):
        return None
    first = code.split(";", maxsplit=1)[0]
    found = _NUMBER.fullmatch(re.sub(r"[\s\u00a0$€£¥+()-]", "", _BESIDE_DIGITS.sub("", first)))
    if found is None or not re.search("[0#?]", found["whole"] + (found["part"] or "")) or found["whole"].endswith(","):
        return None
    zeros = found["whole"].replace(",", "")
    return CellFormat(code, len(found["part"] or ""), bool(found["percent"]), len(zeros) if set(zeros) == {"0"} else 0)


def formats(archive: zipfile.ZipFile) -> dict[bytes, CellFormat]:
    """The number by which cells name a format -> the format."""
    if _STYLES not in archive.namelist():
        return {}
    root = ET.fromstring(archive.read(_STYLES))  # noqa: S314  expat bounds what entities expand to
    codes = dict(_BUILT_IN)
    for one in root.iter():
        if one.tag.endswith("}numFmt") and (one.get("numFmtId") or "").isdigit():
            codes[int(one.get("numFmtId", ""))] = one.get("formatCode", "")
    used = next((one for one in root.iter() if one.tag.endswith("}cellXfs")), ())
    numbers = [int(one.get("numFmtId") or 0) for one in used]
    found = {number: of_code(codes[number]) for number in set(numbers) & codes.keys()}
    named = ((b"%d" % place, found.get(number)) for place, number in enumerate(numbers))
    return {name: one for name, one in named if one is not None}


def of_cells(
    sheet: IO[bytes], letters: Collection[str], wanted: Mapping[bytes, CellFormat]
) -> dict[str, dict[int, CellFormat]]:
    """Column -> row from 0 -> the format of the cell, of these columns and formats alone. The sheet is read piece by piece."""
    found: dict[str, dict[int, CellFormat]] = {letter: {} for letter in letters}
    if not wanted or not letters:
        return found
    columns = "|".join(sorted(letters)).encode()
    cell = re.compile(rb"""<(?:\w+:)?c\b(?=[^>]*?\br=["'](""" + columns + rb""")(\d+)["'])[^>]*?\bs=["'](\d+)["']""")
    rest = b""
    while piece := sheet.read(_PIECE):
        xml = rest + piece
        end = xml.rfind(b">") + 1
        rest = xml[end:]
        for one in cell.finditer(xml, 0, end):
            if (style := wanted.get(one[3])) is not None:
                found[one[1].decode()][int(one[2]) - 1] = style
    return found
