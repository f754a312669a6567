"""Text of an ERP to exact numbers, a whole column at a time: decimals from end to end, never a float (I11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.mask import Mask, mask
from shelfsync.schemas import PRICE

WHOLE_DIGITS_MAX = 17
"""What a decimal of 20 digits has room for before its three decimals."""

INT32_MAX = 2**31 - 1
"""The largest count of pieces that is sent: 32 bits are what a receiver can be trusted to have."""

_EXPONENT = r"^[+-]?(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+$"
_PLAIN = r"^(?P<sign>[+-]?)0*(?P<whole>\d*)(?:\.(?P<part>\d*))?$"
_HAS_DIGIT = r"\d"
_DECIMAL_COMMA = r"^[+-]?[\d.']*,\d+$"
_EXPONENT_DIGITS_MAX = 18


@dataclass(frozen=True)
class Numbers:
    """One column of numbers. `magnitude`: the absolute value, cut (never rounded) after three decimals; null for a blank or faulty text."""

    magnitude: pa.Array
    comma: Mask
    """Not blank, but with a decimal comma."""
    garbled: Mask
    """Not blank, but no number: words, NaN, Infinity, signs without digits."""
    negative: Mask
    """Below zero, by however little; minus zero is zero."""
    fraction: Mask
    """Has a decimal other than zero in any place."""
    large: Mask
    """More digits before the point than fit."""

    def pieces(self) -> pa.Array:
        """The magnitudes without their decimals, as int64; whether that was allowed is the caller's question."""
        options = pc.CastOptions(target_type=pa.int64(), allow_decimal_truncate=True)
        return pc.cast(self.magnitude, options=options)


def read(texts: pa.Array) -> Numbers:
    """Reads plain (`-1.50`, `.5`, `5.`) and scientific (`1E+2`) decimals exactly; blank text has no value.

    Each distinct text is read once: a store has few distinct prices and counts.
    """
    coded = texts.dictionary_encode(null_encoding="encode")
    each, rows = _read(coded.dictionary), coded.indices.to_numpy()
    return Numbers(
        magnitude=each.magnitude.take(coded.indices),
        comma=each.comma[rows],
        garbled=each.garbled[rows],
        negative=each.negative[rows],
        fraction=each.fraction[rows],
        large=each.large[rows],
    )


def _read(texts: pa.Array) -> Numbers:
    texts = _without_exponents(pc.utf8_trim_whitespace(texts))
    not_blank = pc.not_equal(texts, "")
    found = pc.extract_regex(texts, _PLAIN)
    number = pc.and_(found.is_valid(), pc.match_substring_regex(texts, _HAS_DIGIT))
    sign, whole, part = (found.field(index) for index in range(3))
    fraction = pc.match_substring_regex(part, "[1-9]")
    zero = pc.and_(pc.equal(whole, ""), pc.invert(fraction))
    negative = pc.and_(number, pc.and_(pc.equal(sign, "-"), pc.invert(zero)))
    large = pc.and_(number, pc.greater(pc.binary_length(whole), WHOLE_DIGITS_MAX))
    garbled = pc.and_(not_blank, pc.invert(number))
    comma = pc.and_(garbled, pc.match_substring_regex(texts, _DECIMAL_COMMA))
    usable = pc.and_(pc.and_(not_blank, number), pc.invert(large))
    cut = pc.binary_join_element_wise("0", whole, ".", pc.utf8_slice_codeunits(part, 0, 3), "")
    return Numbers(
        magnitude=pc.if_else(mask_of(usable), cut, pa.scalar(None, pa.string())).cast(PRICE),
        comma=mask(comma),
        garbled=mask(garbled) & ~mask(comma),
        negative=mask(negative),
        fraction=mask(pc.and_(number, fraction)),
        large=mask(large),
    )


def mask_of(values: pa.Array) -> pa.Array:
    """A column of truth values without nulls; what is unknown is false."""
    return values.fill_null(False)


def _without_exponents(texts: pa.Array) -> pa.Array:
    """Scientific texts as plain ones; they are rare, so each distinct one is converted separately."""
    scientific = mask_of(pc.match_substring_regex(texts, _EXPONENT))
    if not pc.any(scientific).as_py():
        return texts
    coded = texts.filter(scientific).dictionary_encode()
    plain = pa.array([_plain(text) for text in coded.dictionary.to_pylist()], pa.string())
    return pc.replace_with_mask(texts, scientific, plain.take(coded.indices))


def _plain(text: str) -> str:
    """A scientific text as a plain decimal; too large or too small a number as the shortest text that is also too large or too small."""
    mantissa, exponent = text.lower().split("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, part = mantissa.lstrip("+-").partition(".")
    digits = whole + part
    point = len(whole) + _clamped(exponent)
    leading = len(digits) - len(digits.lstrip("0"))
    if leading == len(digits):
        return "0"
    if point - leading > WHOLE_DIGITS_MAX:
        return sign + "9" * (WHOLE_DIGITS_MAX + 1)
    if point - leading < -3:
        return sign + "0.0001"  # cut to nothing, but neither zero nor whole
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{sign}{digits[:point].ljust(point, '0')}.{digits[point:]}"


def _clamped(exponent: str) -> int:
    """The exponent; one of absurd length as one that is merely enormous."""
    sign = -1 if exponent.startswith("-") else 1
    digits: Any = exponent.lstrip("+-").lstrip("0") or "0"
    return sign * (10**_EXPONENT_DIGITS_MAX if len(digits) > _EXPONENT_DIGITS_MAX else int(digits))
