"""Reads `{"products": [...]}` of any size item by item, in memory that does not grow with it (interface.md 2.1, 4.1).

The standard parser does the parsing; here is only the sliding window it looks through. The platform rejects the whole request for:
what is no JSON, no array `products`, wrong types, no key, a barcode with a non-digit or more than 14 digits, a quantity or a sales
limit that is no whole number. Null counts as absent.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import IO, Any, NoReturn

from fastapi import Request

from partner_sandbox import money
from partner_sandbox.errors import ApiError, unknown_field
from partner_sandbox.settings import Behaviour

PIECE_BYTES = 1 << 20
IN_MEMORY_BYTES_MAX = 4 * 1024 * 1024
_SPACE = " \t\n\r"


class BodyError(ApiError):
    """400: the platform rejects the whole request for what is wrong with this field."""

    def __init__(self, field: str, problem: str, *, rule: str | None = "2.1", choice: str | None = None) -> None:
        message = f"{field}: {problem}" if field else problem
        super().__init__(400, "INVALID_REQUEST", message, rule=rule, choice=choice)


@contextlib.asynccontextmanager
async def spooled(request: Request) -> AsyncIterator[IO[bytes]]:
    """The body of a request as a file, on disk if it is large."""
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES_MAX) as file:
        async for piece in request.stream():
            file.write(piece)
        file.seek(0)
        yield file


def products(file: IO[bytes], *, alone: bool = False) -> Iterator[Any]:
    """The elements of the array `products`, as the standard parser gives them, decimals as Decimal.

    `alone`: a name beside it is rejected, as the control plane does; the platform ignores it.
    """
    return _Reader(file, "products", alone=alone).items()


class _Reader:
    def __init__(self, file: IO[bytes], name: str, *, alone: bool) -> None:
        self._file = file
        self._name = name
        self._alone = alone
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
            elif self._alone:
                raise unknown_field(name, [self._name])
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


SALES_LIMIT_NAMES = ("maximum_sales_quantity", "max_sales_quantity")
BARCODE_DIGITS_MAX = 14
WHOLE_MAX = 2**31 - 1


@dataclass(frozen=True)
class ItemReader:
    """Reads items by the platform's choices."""

    limit_names: tuple[str, ...]
    rejected_names: tuple[str, ...]

    def read(self, number: int, item: Any) -> tuple[Any, ...]:
        """A row of jobs.job_item after the job: number, sku, barcode, quantity, price, active, limit, error."""
        where = f"products[{number}]"
        if type(item) is not dict:
            raise BodyError(where, "must be an object")
        sku = _text(item.get("sku"), where, "sku")
        barcode = _barcode(item.get("barcode"), where)
        if sku is None and barcode is None:
            raise BodyError(where, "sku or barcode is required")
        active = item.get("active")
        if active is not None and type(active) is not bool:
            raise BodyError(f"{where}.active", f"must be true or false, not {_shown(active)}")
        quantity = _whole(item.get("quantity"), f"{where}.quantity")
        limit = self._limit(item, where)
        price, error = _price(item.get("price"), where)
        if error is None and limit is not None and not 1 <= limit <= WHOLE_MAX:
            error = "max_sales_quantity must be at least 1" if limit < 1 else "max_sales_quantity is too large"
        return (number, sku, barcode, _clamped(quantity), price, active, _clamped(limit), error)

    def _limit(self, item: dict[str, Any], where: str) -> int | None:
        for name in self.rejected_names:
            if name in item:
                problem = f"is the spelling of another dialect; this one reads {', '.join(self.limit_names)}"
                raise BodyError(f"{where}.{name}", problem, choice="sales_limit_name")
        for name in self.limit_names:
            value = _whole(item.get(name), f"{where}.{name}")
            if value is not None:
                return value
        return None


def reader_of(behaviour: Behaviour) -> ItemReader:
    """The reader for a dialect."""
    both = behaviour.sales_limit_name == "both"
    known = SALES_LIMIT_NAMES if both else (behaviour.sales_limit_name,)
    rejected_names = () if behaviour.other_sales_limit == "ignore" else tuple(set(SALES_LIMIT_NAMES) - set(known))
    return ItemReader(known, rejected_names)


def padded(barcode: str) -> str:
    """A barcode as the platform stores it: 14 digits, zeros on the left."""
    return barcode.zfill(BARCODE_DIGITS_MAX)


def barcode_problem(barcode: str) -> str | None:
    """Why a barcode is invalid, or None."""
    if not (barcode.isascii() and barcode.isdigit()):
        return "must have digits only"
    return None if len(barcode) <= BARCODE_DIGITS_MAX else f"must have at most {BARCODE_DIGITS_MAX} digits"


def _text(value: Any, where: str, name: str) -> str | None:
    if value is None:
        return None
    if type(value) is not str:
        raise BodyError(f"{where}.{name}", f"must be a text, not {_shown(value)}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise BodyError(f"{where}.{name}", "has half a surrogate pair") from None
    return value or None


def _barcode(value: Any, where: str) -> str | None:
    barcode = _text(value, where, "barcode")
    if barcode is None:
        return None
    problem = barcode_problem(barcode)
    if problem:
        raise BodyError(f"{where}.barcode", f"{problem}, not {_shown(barcode)}")
    return padded(barcode)


def _whole(value: Any, where: str) -> int | None:
    if value is None or type(value) is int:
        return value
    if type(value) is Decimal and value.adjusted() < 20 and value == value.to_integral_value():
        return int(value)
    raise BodyError(where, f"must be a whole number, not {_shown(value)}")


def _price(value: Any, where: str) -> tuple[int | None, str | None]:
    if value is None:
        return None, None
    if type(value) is not int and type(value) is not Decimal:
        raise BodyError(f"{where}.price", f"must be a number, not {_shown(value)}")
    if value < 0:
        return None, "price must not be negative"
    try:
        price_milli = money.cut(value)
    except OverflowError:
        return None, "price is too large"
    return (price_milli, None) if price_milli <= money.PRICE_MILLI_MAX else (None, "price is too large")


def _clamped(value: int | None) -> int | None:
    return None if value is None else max(-WHOLE_MAX, min(value, WHOLE_MAX))


def _shown(value: Any) -> str:
    text = str(value) if isinstance(value, Decimal) else repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
