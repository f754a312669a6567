"""Which encoding a text has by its own bytes: by its mark, by where its NULs are, or by its letters. And small files of the operator as text."""

from __future__ import annotations

import codecs
import itertools
import re
import unicodedata
from dataclasses import dataclass

import numpy as np

from shelfsync.erp.column_kinds import is_name

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_SINGLE_BYTE = ("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp850", "cp852", "cp866")
_BEGINNING = 4096
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


_NULS_MOST = 0.01


@dataclass(frozen=True)
class Encoding:
    """`name`: for CSV_ENCODING. `doubts`: what speaks against it, or what it cannot be distinguished from."""

    name: str
    doubts: tuple[str, ...] = ()


def encoding_of(head: bytes) -> Encoding | None:
    """The encoding of a file that begins so; None for one that is no text."""
    if (name := of(head[:_BEGINNING])) is not None:
        return Encoding(name)
    if b"\0" in head:
        return _with_nuls(head)
    text = _utf8(head)
    bad = text.count("\ufffd") - head.count("\ufffd".encode())
    good = sum(letter > "\x7f" for letter in text) - bad
    if not bad:
        return Encoding("utf-8-sig")
    if good > 10 * bad:
        line = text[: text.index("\ufffd")].count("\n") + 1
        return Encoding(
            "utf-8-sig", (f"line {line} has a byte that is no UTF-8; shelfsync quarantines its row if it is in a key",)
        )
    return _single_byte(head)


def _with_nuls(head: bytes) -> Encoding | None:
    """The encoding of a text with few empty bytes, as a broken program or a full disk writes them; None for any other file."""
    inner = head.rstrip(b"\0")
    count = inner.count(b"\0")
    found = encoding_of(head.replace(b"\0", b"")) if count <= _NULS_MOST * len(inner) else None
    if found is None:
        return None
    line = head[: head.index(b"\0")].count(b"\n") + 1
    doubt = f"line {line} has an empty byte, which no text has; shelfsync quarantines its row if it is in a key"
    return Encoding(found.name, (*found.doubts, doubt))


def _utf8(head: bytes) -> str:
    """The head as UTF-8; a character that its end cuts is no error."""
    return codecs.getincrementaldecoder("utf-8")("replace").decode(head)


def _single_byte(head: bytes) -> Encoding | None:
    """Of the encodings with one byte a character, the one whose letters stand as in words; the others are shown beside it."""
    sample = b" ".join(itertools.islice((word for word in re.split(rb"[\s,;|]+", head) if not word.isascii()), 200))
    if any(byte < 9 or 13 < byte < 26 for byte in sample):
        return None
    readings = {name: sample.decode(name, "replace") for name in _SINGLE_BYTE}
    ranked = sorted(readings, key=lambda name: -_likeness(readings[name]))
    different = {reading: name for name, reading in reversed([(name, readings[name]) for name in ranked])}
    shown = [f"{name} reads {' '.join(reading.split()[:2])[:40]!r}" for reading, name in reversed(different.items())][
        :4
    ]
    doubt = "the file is not UTF-8, and its encoding cannot be proven: " + ", ".join(shown)
    return Encoding(ranked[0], (f"{doubt}. Choose the one whose words are right",))


def _likeness(text: str) -> float:
    """How much the letters that are not ASCII stand as in words; a name of a column that shelfsync knows counts most."""
    score = 5.0 * sum(is_name(word) for word in text.split() if not word.isascii())
    for before, letter, after in zip(f" {text}", text, f"{text} "[1:], strict=False):
        joined = before.isalpha() and letter.isalpha()
        if joined and _script(before) != _script(letter):
            score -= 2
        elif letter <= "\x7f":
            continue
        elif not letter.isalpha():
            score += 1 if letter in "€£" else 0.3 if letter in "°²³½®™\u2013\u2019“”„\u00a0" else -1
        elif before.isdigit():
            score -= 1
        elif not joined and not after.isalpha():
            score += 0.3  # a letter alone is seldom a word, and may be a sign in another encoding
        else:
            crowded = before > "\x7f" and _script(letter) == "LATIN"  # few words have two accents side by side
            score += 1.5 if joined and not crowded and (letter.islower() or not before.islower()) else 1
    return score


def _script(letter: str) -> str:
    return unicodedata.name(letter, "?").split()[0]
