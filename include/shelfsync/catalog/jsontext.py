"""JSON text built by whole columns, without a Python object for each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_CONTROLS = {chr(code): _SHORT.get(chr(code), f"\\u{code:04x}") for code in range(0x20)}


def escaped(texts: pa.Array) -> pa.Array:
    r"""Each text as it stands between the quotes of a JSON string: UTF-8 kept, only `"`, `\` and controls escaped; null stays null."""
    if not _special(texts):
        return texts
    texts = pc.replace_substring(texts, "\\", "\\\\")  # first: the other escapes bring backslashes of their own
    texts = pc.replace_substring(texts, '"', '\\"')
    if _any(pc.match_substring_regex(texts, r"[\x00-\x1f]")):
        for control, escape in _CONTROLS.items():
            texts = pc.replace_substring(texts, control, escape)
    return texts


def quoted(texts: pa.Array) -> pa.Array:
    """Each text as a JSON string with its quotes; null stays null."""
    return pc.binary_join_element_wise('"', escaped(texts), '"', "")


def objects(names: Sequence[str], columns: Sequence[pa.Array], *, longest: int | None = None) -> pa.Array:
    """One JSON object a row, its members in the order of `names`; columns of text become strings, of whole numbers numbers, null null.

    `longest`: a text of more characters is cut there and ends in "…", so that a row takes no more than it is worth.
    """
    if longest is not None:
        columns = [_cut(column, longest) for column in columns]
    parts: list[pa.Array | str] = []
    between = "{"
    for name, column in zip(names, columns, strict=True):
        between += _string(name) + ":"
        if (
            pa.types.is_string(column.type) and not column.null_count
        ):  # the quotes stand in what is the same for all rows
            parts += [between + '"', escaped(column)]
            between = '",'
        else:
            text = quoted(column) if pa.types.is_string(column.type) else column.cast(pa.string())
            parts += [between, text.fill_null("null")]
            between = ","
    return pc.binary_join_element_wise(*parts, between.removesuffix(",") + "}", "")


def _cut(column: pa.Array, longest: int) -> pa.Array:
    if not pa.types.is_string(column.type):
        return column
    long = pc.greater(pc.utf8_length(column), longest)
    if not _any(long):
        return column
    return pc.if_else(long, pc.binary_join_element_wise(pc.utf8_slice_codeunits(column, 0, longest), "…", ""), column)


def _string(text: str) -> str:
    return str(quoted(pa.array([text], pa.string()))[0].as_py())


def _special(texts: pa.Array) -> bool:
    """Whether any byte of the whole column needs an escape; bytes of other characters never look like one in UTF-8."""
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return False
    ends = np.frombuffer(offsets, dtype=np.int32)
    bytes_of_all = np.frombuffer(data, dtype=np.uint8)[ends[texts.offset] : ends[texts.offset + len(texts)]]
    return bool(((bytes_of_all < 0x20) | (bytes_of_all == ord('"')) | (bytes_of_all == ord("\\"))).any())


def _any(mask: pa.Array) -> bool:
    return bool(pc.any(mask).as_py())
