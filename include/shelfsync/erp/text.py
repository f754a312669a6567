r"""Every value of an ERP as its exact text: no rounding, no guessing, and nothing that later steps cannot read.

| the ERP's value | its text |
|---|---|
| text | itself, NUL and all |
| decimal | plain digits with its own scale: `1.10`, `100`, never `1E+2` |
| float | the shortest digits that give the same float again: `4.1`, `4006381333931.0`, `1e+22`, `nan` |
| whole number | its digits |
| truth value | `true` or `false` |
| date, time | ISO 8601 |
| bytes | read as UTF-8; the single byte 00 or 01, which is a BIT(1) of MySQL and MariaDB, is `0` or `1` |
| null | null |

What is not text in any encoding (bytes that do not decode, lone surrogates) is not allowed in a Parquet file. It is escaped, and each
escape begins with U+FFFD: `Caf` + byte E9 becomes `Caf\ufffd\xe9`. Two different broken texts stay different, a person sees the byte,
and a check of keys finds the mark.
"""

from __future__ import annotations

import codecs
import datetime as dt
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shelfsync import arrow_setup

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

MARK = "\ufffd"
"""The mark before every escape; a text with it was broken in the ERP or on the way from it."""

ESCAPING = "shelfsync_escape"
"""The name of the error handler for `bytes.decode` and `open` that escapes instead of failing."""

CHARACTERS_MAX = 10_000
"""A catalog has no longer values, and a chunk of them exceeds the memory."""

_KEPT_CHARACTERS = 1_000
_SURROGATE = re.compile("[\ud800-\udfff]")
_DIGITS_MAX = 10_000
"""A decimal like 1E+999999 is written with its exponent instead of as a megabyte of zeros."""


def decode(data: bytes, encoding: str = "utf-8") -> str:
    """The bytes as text; bytes that do not decode are escaped."""
    return data.decode(encoding, ESCAPING)


def text(value: Any) -> str | None:
    """One value as its exact text; null stays null."""
    writer = _WRITERS.get(type(value))
    if writer is not None:
        return writer(value)
    for kind, inherited in _BY_INHERITANCE:
        if isinstance(value, kind):
            return inherited(value)
    if hasattr(value, "dtype") and hasattr(value, "item"):
        return _numpy_scalar(value)
    return _escape(str(value))


def texts(values: Sequence[Any] | pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """A column of anything as a column of texts, of the same length and order."""
    return _bounded(_texts(values))


def _texts(values: Sequence[Any] | pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return _arrow_texts(values)
    kinds = set(map(type, values)) - {type(None)}
    if not kinds <= {str}:
        writer = _WRITERS.get(kinds.pop(), text) if len(kinds) == 1 else text
        values = _each(values, writer)
    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError:
        return pa.array([None if value is None else _escape(value) for value in values], pa.string())


def series_texts(series: pd.Series[Any]) -> pa.Array | pa.ChunkedArray:
    """A pandas column as texts. pandas knows one sign for missing numbers, NaN, so here NaN is null."""
    import pandas as pd

    arrow_setup.with_pandas()
    if series.dtype != object:
        try:
            column = pa.array(series, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError):  # a type of pandas that Arrow does not know
            column = None
        if column is not None and not isinstance(column.type, pa.BaseExtensionType):
            return texts(column)
        series = series.astype(object)
    return texts([None if value is pd.NA or value is pd.NaT or _is_nan(value) else value for value in series.tolist()])


def _each(values: Sequence[Any], writer: Callable[[Any], str | None]) -> list[str | None]:
    """Each value by its writer; one that cannot be written is a broken value of its row, and no broken column."""
    try:
        return [None if value is None else writer(value) for value in values]
    except Exception:  # noqa: BLE001  a driver's or a hook's own class may raise anything
        return [_or_broken(value, writer) for value in values]


def _or_broken(value: Any, writer: Callable[[Any], str | None]) -> str | None:
    try:
        return None if value is None else writer(value)
    except Exception as error:  # noqa: BLE001
        return f"{MARK} {type(value).__name__}: {type(error).__name__}"


def _bounded(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """No text is longer than CHARACTERS_MAX; a longer one is broken: its beginning, and the mark."""
    import pyarrow.compute as pc

    if not len(column) or (pc.max(pc.binary_length(column)).as_py() or 0) <= CHARACTERS_MAX:
        return column
    long = pc.greater(pc.utf8_length(column), CHARACTERS_MAX)
    start = pc.utf8_slice_codeunits(column, 0, _KEPT_CHARACTERS)
    return pc.if_else(long, pc.binary_join_element_wise(start, f"{MARK} and more", ""), column)


def _arrow_texts(values: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _arrow_texts(values.cast(kind.value_type))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        try:
            values.validate(full=True)
        except pa.ArrowInvalid:  # a writer that put other bytes into a column of text
            return _texts(values.cast(pa.binary() if pa.types.is_string(kind) else pa.large_binary()).to_pylist())
        return values.cast(pa.string())
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return values.cast(pa.string())
    if pa.types.is_float32(kind) or pa.types.is_float16(kind):
        return _narrow_float_texts(values)
    return _texts(_python(values))


def _python(values: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The values as Python has them; an instant beyond the year 9999 it has not, and that costs one row."""
    try:
        found: list[Any] = values.to_pylist()
    except Exception:  # noqa: BLE001  each type has its own
        found = [_or_broken(value, lambda scalar: scalar.as_py()) for value in values]
    return found


def _narrow_float_texts(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Shortest digits at the column's own width: 0.1 as a 32-bit float is `0.1`, not 0.10000000149011612."""
    nulls = values.is_null().to_pylist()
    numbers = values.to_numpy() if isinstance(values, pa.ChunkedArray) else values.to_numpy(zero_copy_only=False)
    numbers = numbers.astype(values.type.to_pandas_dtype())
    return pa.array([None if null else str(number) for number, null in zip(numbers, nulls, strict=True)], pa.string())


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value  # noqa: PLR0124  only NaN differs from itself


def _decimal(value: Decimal) -> str:
    if value.is_finite() and abs(value.adjusted()) > _DIGITS_MAX:
        return str(value)
    return format(value, "f")


def _whole(value: int) -> str:
    try:
        return int.__repr__(value)
    except ValueError:  # Python's own ceiling on digits: no stock, no price, but no reason to crash
        return hex(value)


def _truth(value: Any) -> str:
    return "true" if value else "false"


def _numpy_scalar(value: Any) -> str | None:
    if value.dtype.kind == "f":
        return str(value)  # at its own width
    if value.dtype.kind == "M":
        return None if str(value) == "NaT" else str(value)
    return text(value.item())


def _escape(value: str) -> str:
    return _SURROGATE.sub(lambda found: f"{MARK}\\u{ord(found.group()):04x}", value)


def _escape_bytes(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(f"{MARK}\\x{byte:02x}" for byte in error.object[error.start : error.end]), error.end


codecs.register_error(ESCAPING, _escape_bytes)


def _bytes(value: bytes | bytearray | memoryview) -> str:
    data = bytes(value)
    return str(data[0]) if data in {b"\0", b"\1"} else decode(data)


_WRITERS: dict[type, Callable[[Any], str | None]] = {
    type(None): lambda _: None,
    str: _escape,
    bool: _truth,
    int: _whole,
    float: float.__repr__,
    Decimal: _decimal,
    bytes: _bytes,
    bytearray: _bytes,
    memoryview: _bytes,
    dt.date: dt.date.isoformat,
    dt.time: dt.time.isoformat,
    dt.datetime: dt.datetime.isoformat,
}

_BY_INHERITANCE: tuple[tuple[type, Callable[[Any], str | None]], ...] = (
    (float, float.__repr__),  # numpy's float64 too, whose own repr is `np.float64(1.5)`
    (str, lambda value: _escape(str.__str__(value))),
    (int, _whole),
    (Decimal, _decimal),
    (bytes, _bytes),
    (dt.datetime, lambda value: value.isoformat()),  # pandas' Timestamp
    (dt.date, lambda value: value.isoformat()),
)
