"""Keys that lost digits or letters: a spreadsheet's `4.00638E+12`, `caf?` of another encoding, and which SKUs they may have been.

Such keys are few. They are looked at one by one.
"""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.mask import mask

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shelfsync.rows.mask import Mask

_DAMAGED = "\ufffd"
"""The mark of a text that did not decode (`erp.text`)."""
_OTHER_ENCODING = "[?\u00bf]|[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u0192\u02c6\u02dc\u2013-\u2122]"
"""A text that went through a narrower encoding, which leaves one mark for each letter, or whose UTF-8 was read as another one."""
FLOAT = r"^\d(?:[.,]\d+)?[eE][+]\d+$"
"""A number that lost digits: `4.00638E+12`."""
KEYS_MAX = 1_000
"""So many distinct rounded or damaged keys are compared with the known SKUs."""


def may_be_several(texts: pa.Array) -> Mask:
    """Keys that lost digits (`4.00638E+12`) or were damaged: rows with the same one may be of different SKUs."""
    return mask(pc.match_substring_regex(texts, rf"{FLOAT}|^\d{{15}}0+$|{_DAMAGED}").fill_null(False))


def with_lost_digits(texts: pa.Array, found: pa.Array, gone: pa.Array) -> pa.Array:
    """Also keys that lost digits (`4.00638E+12`) or were damaged: each row takes another of the SKUs that it may have been."""
    lost = may_be_several(texts) | mask(pc.match_substring_regex(texts, _OTHER_ENCODING).fill_null(False))
    lost &= mask(found.is_null())
    if not lost.any() or not len(gone):
        return found
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for place in np.flatnonzero(lost).tolist():
        rows[texts[place].as_py()].append(place)
        if len(rows) > KEYS_MAX:
            break
    codes = [sku for sku in gone.to_pylist() if sku.isascii() and sku.isdigit()]
    answers: dict[int, str] = {}
    for text, places in rows.items():
        if _DAMAGED in text:
            names = _damaged(text, gone)
        else:
            names = _encoded(text, gone) if re.search(_OTHER_ENCODING, text) else _of_digits(text, codes)
        answers |= dict(zip(places, names, strict=False))
    if not answers:
        return found
    values = found.to_pylist()
    for place, sku in answers.items():
        values[place] = sku
    return pa.array(values, pa.string())


def written_out(text: str) -> str:
    """A number without its exponent, as far as no digit of it is lost: `1.00001E+05` is `100001`."""
    found = re.fullmatch(r"[+]?(\d+)(?:[.,](\d*))?[eE][+]?(\d+)", text)
    if found is None:
        return text
    whole, fraction, power = found.group(1), (found.group(2) or "").rstrip("0"), int(found.group(3))
    return whole + fraction.ljust(power, "0") if len(fraction) <= power else text


def _of_digits(text: str, codes: Iterable[str]) -> list[str]:
    plain = written_out(text)
    if not plain.isdigit():
        return []
    kept = len(plain.rstrip("0"))
    return [sku for sku in codes if len(sku.lstrip("0")) == len(plain) and _cut(sku.lstrip("0"), kept) == plain]


def _cut(sku: str, kept: int) -> str:
    rounded = str(round(int(sku), kept - len(sku)))
    return rounded if len(rounded) == len(sku) else sku


def _damaged(text: str, gone: pa.Array) -> list[str]:
    pattern = re.sub(rf"(?:{_DAMAGED}(?:\\\\x[0-9a-f]{{2}}|\\\\u[0-9a-f]{{4}})?)+", ".{1,4}", re.escape(text))
    if pattern.replace(".{1,4}", "") == "":
        return []
    return list(gone.filter(pc.match_substring_regex(gone, f"^(?:{pattern})$")).to_pylist())


def _encoded(text: str, gone: pa.Array) -> list[str]:
    """The SKU of which an encoding made this text: `caf?` or `caf\u00c3\u00a9` of `caf\u00e9`."""
    for encoding in ("cp1252", "latin-1"):
        with contextlib.suppress(UnicodeError):
            meant = text.encode(encoding).decode()
            if pc.is_in(meant, value_set=gone).as_py():
                return [meant]
    pattern = re.sub("\\\\\\?|\u00bf", r"[^\\x00-\\x7f]", re.escape(text))
    return list(gone.filter(pc.match_substring_regex(gone, f"^(?:{pattern})$")).to_pylist())
