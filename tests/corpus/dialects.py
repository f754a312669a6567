"""How ERPs write a list: delimiter, encoding, numbers, packing. Each dialect has the settings that describe it."""

from __future__ import annotations

import gzip
import io
import itertools
import zipfile
from dataclasses import dataclass
from typing import Any

DELIMITERS = {",": ",", ";": ";", "\t": "tab", "|": "|"}
ENCODINGS = {"utf-8": "utf-8", "utf-8 with a mark": "utf-8-sig", "utf-16 with a mark": "utf-16", "cp1252": "cp1252"}
PACKED = ("", ".gz", ".zip")


@dataclass(frozen=True)
class Numbers:
    """Thousandths -> their text: the marks, a currency, and where the minus stands."""

    decimal: str
    thousands: str = ""
    currency: str = ""
    minus: str = "leading"

    def price(self, thousandths: int) -> str:
        """With two decimals."""
        return self._grouped(thousandths // 1000) + self.decimal + f"{thousandths % 1000 // 10:02}" + self.currency

    def count(self, number: int) -> str:
        """A whole number; a negative one as this style writes it."""
        plain = self._grouped(abs(number))
        if number >= 0:
            return plain
        return f"{plain}-" if self.minus == "any" else f"-{plain}"

    def foreign(self) -> str:
        """A price in another style, which this one does not read and takes for no other number."""
        return "5.25" if self.decimal == "," else "5,25"

    def settings(self) -> dict[str, Any]:
        return {
            "decimal_mark": self.decimal,
            "thousands_mark": "space" if self.thousands == "\u00a0" else self.thousands or None,
            "minus": self.minus,
            "currencies": [self.currency.strip()] if self.currency else [],
        }

    def _grouped(self, number: int) -> str:
        return f"{number:,}".replace(",", self.thousands)


STYLES = (
    Numbers("."),
    Numbers(","),
    Numbers(",", "."),
    Numbers(",", "\u00a0"),
    Numbers(".", ",", " EUR"),
    Numbers(".", "'", minus="any"),
    Numbers(",", ".", " €", "any"),
)


@dataclass(frozen=True)
class Dialect:
    """One way to write a list."""

    delimiter: str
    encoding: str
    numbers: Numbers
    packed: str
    quoted: bool

    @property
    def name(self) -> str:
        """For a person."""
        marks = f"{self.numbers.price(1_234_500)} {self.numbers.minus}"
        quotes = "quotes" if self.quoted else "no quotes"
        text = f"{DELIMITERS[self.delimiter]} {self.encoding} {marks}{self.packed} {quotes}"
        return text.replace("€", "euro").replace("\u00a0", "_").replace(" ", "-")

    def cell(self, text: str) -> str:
        """A cell; one that holds the delimiter is quoted."""
        return f'"{text}"' if self.delimiter in text else text

    def pack(self, text: bytes, name: str) -> bytes:
        """The bytes of the file."""
        if self.packed == ".gz":
            return gzip.compress(text)
        if self.packed == ".zip":
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w") as archive:
                archive.writestr(f"{name}.csv", text)
            return buffer.getvalue()
        return text

    def settings(self) -> dict[str, Any]:
        """The ERP's settings that describe it."""
        return {
            "csv_delimiter": DELIMITERS[self.delimiter],
            "csv_encoding": ENCODINGS[self.encoding].removesuffix("-sig"),
            "csv_quoting": "standard" if self.quoted else "none",
            "null_words": ["NULL", "\\N"],
            "true_words": ["J"],
            "false_words": ["N"],
            **self.numbers.settings(),
        }


def dialects() -> list[Dialect]:
    """Some of all combinations: every pair of two choices occurs in one of them, unless quotes are needed for it."""
    choices = (DELIMITERS, ENCODINGS, STYLES, PACKED, (True, False))
    every = [Dialect(*parts) for parts in itertools.product(*choices)]
    possible = [one for one in every if one.quoted or one.delimiter not in one.numbers.price(1_234_500)]
    missing = {pair for one in possible for pair in _pairs(one)}
    chosen = []
    while missing:
        best = max(possible, key=lambda one: len(missing & _pairs(one)))
        chosen.append(best)
        missing -= _pairs(best)
    return chosen


def _pairs(one: Dialect) -> set[tuple[tuple[int, Any], tuple[int, Any]]]:
    parts = (one.delimiter, one.encoding, one.numbers, one.packed, one.quoted)
    return set(itertools.combinations(enumerate(parts), 2))
