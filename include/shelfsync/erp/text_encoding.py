"""Which Unicode encoding a text has by its own bytes: by its mark, or by where its NULs are. And small files of the operator as text."""

from __future__ import annotations

import codecs

import numpy as np

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_ASSIGNED_MAX = 0x3FFFF
"""No character is above it; two characters of UTF-16 in one number are."""
_LEAST_SHARE = 8
"""Every eighth byte: so many NULs at least has a text of any language in UTF-16, by its digits, delimiters and line ends."""


def of(head: bytes) -> str | None:
    """The encoding of a text that begins so, by its name in Python; None: nothing speaks for UTF-16, UTF-32 or a mark."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if b"\0" not in head:
        return None
    return _utf_32(head[: len(head) // 4 * 4]) or _utf_16(head)


def _utf_32(head: bytes) -> str | None:
    for name, order in (("utf-32-le", "<u4"), ("utf-32-be", ">u4")):
        characters = np.frombuffer(head, order)
        if len(characters) and (characters > 0).all() and (characters <= _ASSIGNED_MAX).all():
            return name
    return None


def _utf_16(head: bytes) -> str | None:
    even, odd = head[::2].count(0), head[1::2].count(0)
    for name, many, few in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if many * _LEAST_SHARE >= len(head) and many > few * _LEAST_SHARE:
            return name
    return None


def advice(head: bytes, configured: str) -> str | None:
    """What to write instead of `configured` for a text that begins so; None: it may be right. LookupError: it is no encoding."""
    found, given = of(head), codecs.lookup(configured).name
    if not head or found == given:
        return None
    if found is None or found == "utf-8-sig":
        if given.startswith(("utf-16", "utf-32")):
            if found is None and b"\0" in head and given.count("-") > 1:
                return None  # hardly any NUL: a text of long names in another script
            return _of_bytes(head)
        return None if found is None or given == "utf-8" else found
    by_mark = {(codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")}
    by_mark |= {(codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be")}
    return None if any(head.startswith(mark) and given == name for mark, name in by_mark) and found in given else found


def _of_bytes(head: bytes) -> str:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "the file's own encoding, such as cp1252 or cp1255"
    return "utf-8-sig"


def decode(data: bytes) -> str:
    """A small file as text: UTF-8 unless its own bytes say otherwise. UnicodeDecodeError: it is neither."""
    return data.decode(of(data) or "utf-8-sig")
