"""Keys that are none because of what nearly all others of the store are: numbers, or barcodes with a check digit.

A program makes a date, a truth value or another base of a number (`Jan-26`, `true`, `0x186A1`); a digit of a barcode gets lost or wrong. Such a
text may be a key of a store whose keys have many forms, so it is looked at only where the others leave no doubt.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.mask import mask

if TYPE_CHECKING:
    from shelfsync.rows.mask import Mask

_OTHERS_MIN = 20
_MOST = 0.9
_FEW = 0.01
_BARCODE_DIGITS = range(12, 15)
_OF_STORES = "2"
"""What begins with it is a code of a store's own, whose last digit may mean anything."""
_MONTHS = "jan|feb|mar|mrz|mär|apr|may|mai|jun|jul|aug|sep|sept|oct|okt|nov|dec|dez|fev|fév|avr|juin|juil|aoû|ene|abr|ago|dic|gen|mag|giu|lug|set|ott"
_NO_NUMBER = (
    r"(?i)^(?:0x[0-9a-f]+|true|false|wahr|falsch|vrai|faux|verdadero|falso|vero|prawda|fałsz|waar|onwaar"
    rf"|\d{{1,2}}[-. /]*(?:{_MONTHS})\pL*\.?(?:[-. /]*\d{{2,4}})?|(?:{_MONTHS})\pL*\.?[-. /]*\d{{1,4}}"
    r"|\d{1,2}[-./]\d{1,2}[-./]\d{2,4}|\d{4}[-./]\d{1,2}[-./]\d{1,2})(?: 00:00(?::00)?)?$"
)
_HEXADECIMAL = re.compile("0[xX][0-9a-fA-F]{1,15}")


def find(keys: pa.Array, others: pa.Array) -> Mask:
    """Which of these keys are unlike the others. `others`: all keys of the store once, also these ones."""
    if len(others) <= _OTHERS_MIN:
        return np.zeros(len(keys), dtype=bool)
    return _made_of_numbers(keys, others) | _without_check_digit(keys, others)


def may_be(keys: pa.Array | pa.ChunkedArray) -> Mask:
    """Which of these keys a program may have made of a number."""
    return mask(pc.match_substring_regex(keys, _NO_NUMBER))


def meant(key: str, gone: pa.Array) -> list[str]:
    """Which of the SKUs that left this key may have been: the number of a hexadecimal one, or a barcode with a digit more at one end."""
    if _HEXADECIMAL.fullmatch(key):
        number = str(int(key, 16))
        return [sku for sku in gone.to_pylist() if sku.lstrip("0") == number]
    if len(key) + 1 in _BARCODE_DIGITS:
        longer = gone.filter(pc.equal(pc.utf8_length(gone), len(key) + 1))
        found = longer.filter(pc.or_(pc.starts_with(longer, key), pc.ends_with(longer, key))).to_pylist()
        return found if len(found) == 1 else []
    return []


def _made_of_numbers(keys: pa.Array, others: pa.Array) -> Mask:
    """Dates, truth values and hexadecimal numbers, where all others, but for very few, are numbers."""
    nothing = np.zeros(len(keys), dtype=bool)
    if pc.all(pc.ascii_is_decimal(keys), min_count=0).as_py():
        return nothing
    found = may_be(keys)
    if not found.any():
        return nothing
    numbers, made = mask(pc.ascii_is_decimal(others)), may_be(others)
    few = max(1, _FEW * len(others))
    return found if numbers.mean() >= _MOST and (~(numbers | made)).sum() <= few else nothing


def _without_check_digit(keys: pa.Array, others: pa.Array) -> Mask:
    """Barcodes of the usual length, or of one digit less, whose check digit is wrong where that of all others, but for very few, is right."""
    found = np.zeros(len(keys), dtype=bool)
    counts = pc.value_counts(pc.binary_length(others))
    most = pc.max(counts.field("counts"))
    usual = counts.field("values")[pc.index(counts.field("counts"), most).as_py()].as_py()
    if usual not in _BARCODE_DIGITS or most.as_py() < max(_OTHERS_MIN, _MOST * len(others)):
        return found
    few = max(1, _FEW * len(others))
    if _wrong(others, usual).sum() > few:
        return found
    for length in (usual, usual - 1):
        wrong = _wrong(keys, length)
        if wrong.sum() <= few:
            found |= wrong
    return found


def _wrong(keys: pa.Array, length: int) -> Mask:
    """Numbers of so many digits whose last one is no check digit, but for those of stores."""
    these = mask(pc.and_(pc.ascii_is_decimal(keys), pc.equal(pc.binary_length(keys), length)))
    these &= ~mask(pc.starts_with(keys, _OF_STORES))
    if not these.any():
        return these
    text = "".join(keys.filter(pa.array(these)).to_pylist()).encode()
    digits = np.frombuffer(text, dtype=np.uint8).reshape(-1, length) - ord("0")
    weights = np.where(np.arange(length)[::-1] % 2, 3, 1)
    these[these] = digits @ weights % 10 != 0
    return these
