"""Reads `{"products": [...]}` of any size item by item, in memory that does not grow with it.

The standard parser does the parsing; here is only the sliding window it looks through. What is no JSON, or no object
with an array `products`, is a BodyError that names the place.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import IO, Any, NoReturn

PIECE_BYTES = 1 << 20
_SPACE = " \t\n\r"


class BodyError(ValueError):
    """The platform rejects the whole request: `field` and what is wrong with it."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}" if field else problem)
        self.field = field
        self.problem = problem


def products(file: IO[bytes], name: str = "products") -> Iterator[Any]:
    """The elements of the array `name`, as the standard parser gives them, decimals as Decimal."""
    return _Reader(file, name).items()


class _Reader:
    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._name = name
        self._bytes = codecs.getincrementaldecoder("utf-8")()
        self._json = json.JSONDecoder(parse_float=Decimal, parse_constant=_no_constant)
        self._text = ""
        self._at = 0
        self._ended = False

    def items(self) -> Iterator[Any]:
        found = False
        self._expect("{", "the body must be a JSON object")
        separator = "," if self._peek() != "}" else "}"
        first = True
        while separator == "," and (not first or self._peek() != "}"):
            first = False
            name = self._value()
            if not isinstance(name, str):
                raise _malformed()
            self._expect(":")
            if name == self._name:
                found = True
                yield from self._array()
            else:
                self._value()
            separator = self._take()
        if first:
            separator = self._take()
        if separator != "}" or self._peek():
            raise _malformed()
        if not found:
            raise BodyError(self._name, "is required")

    def _array(self) -> Iterator[Any]:
        self._expect("[", f"{self._name}: must be an array")
        if self._peek() == "]":
            self._at += 1
            return
        while True:
            yield self._value()
            separator = self._take()
            if separator == "]":
                return
            if separator != ",":
                raise _malformed()

    def _value(self) -> Any:
        if not self._peek():
            raise _malformed()
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except RecursionError:
                raise BodyError("", "the body is nested too deeply") from None
            except json.JSONDecodeError:
                if not self._more():
                    raise _malformed() from None
                continue
            except BodyError:
                raise
            except ValueError:  # a number of thousands of digits
                raise BodyError("", "the body has a number that is too long") from None
            if end == len(self._text) and self._more():  # a number may go on in the next piece
                continue
            self._at = end
            return value

    def _peek(self) -> str:
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _take(self) -> str:
        character = self._peek()
        self._at += 1
        return character

    def _expect(self, character: str, otherwise: str | None = None) -> None:
        found = self._peek()
        if found != character:
            raise BodyError("", otherwise) if otherwise and found and found in '{["-0123456789tfn' else _malformed()
        self._at += 1

    def _more(self) -> bool:
        if self._ended:
            return False
        piece = self._file.read(max(PIECE_BYTES, len(self._text) - self._at))  # doubles, for one value that is huge
        try:
            text = self._bytes.decode(piece, final=not piece)
        except UnicodeDecodeError:
            raise BodyError("", "the body is not UTF-8") from None
        self._ended = not piece
        self._text = self._text[self._at :] + text
        self._at = 0
        return bool(piece)


def _malformed() -> BodyError:
    return BodyError("", "the body is not valid JSON")


def _no_constant(word: str) -> NoReturn:
    raise BodyError("", f"the body is not valid JSON: {word} is no number")
