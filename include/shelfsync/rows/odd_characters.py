# ruff: noqa: RUF001  the subject of this file
"""Texts that are another text only to a machine: what is odd in a key or an id by itself, and what it reads as.

Whole columns are compared.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync import invisible_characters
from shelfsync.rows.mask import Mask, mask

_ALIKE = dict(
    zip(
        "АВЕЅІЈКМНОРСТУХҮѴԚԜԌаесорхуѕіјһԁԛԝѵкΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿονιραϲϳκՕօՍսՏհ",
        "ABESIJKMHOPCTYXYVQWGaecopxysijhdqwvkABEZHIKMNOPTYXCJovipacjkOoUuSh",
        strict=True,
    )
)
"""Letters of other scripts and the Latin letters that they look like."""
_SIGNS = dict(zip("‐‑‒–—−‘’ʼ′⁄∕․∶×ıɑɡ", "------''''//.:xiag", strict=True))
_DASH = "[‐‑‒–—−⁄∕․∶]"
"""Signs that look like `-`, `/`, `.` and `:`."""
_OF_LATIN = "".join(sorted(set(_ALIKE.values())))
_OTHER_SCRIPTS = r"\p{Cyrillic}\p{Greek}\p{Armenian}"
_LETTERS = "".join(_ALIKE)
_AMONG_LATIN = rf"\p{{Latin}}.*[{_LETTERS}]|[{_LETTERS}].*\p{{Latin}}"
_DISTINCT = rf"[{_OTHER_SCRIPTS}]"
_IN_WORD = rf"[{_OTHER_SCRIPTS}][{_OTHER_SCRIPTS}\p{{Nd}}]*[{_OF_LATIN}]|[{_OF_LATIN}][{_OTHER_SCRIPTS}\p{{Nd}}]*[{_OTHER_SCRIPTS}]"
_WHOLE_WORD = rf"(^|[^\p{{L}}\p{{Nd}}])[{_OTHER_SCRIPTS}]{{2,}}($|[^\p{{L}}\p{{Nd}}])"
"""A word of another script alone, as in СОК-XL: it is meant so."""
_WORD_EDGE = rf"[^{_OTHER_SCRIPTS}\p{{Nd}}{_OF_LATIN}\p{{L}}]"
_ALIKE_IN_WORD = (
    rf"(?:^|{_WORD_EDGE})[{_OTHER_SCRIPTS}\p{{Nd}}{_OF_LATIN}]*(?:{_IN_WORD})"
    rf"[{_OTHER_SCRIPTS}\p{{Nd}}{_OF_LATIN}]*(?:$|{_WORD_EDGE})"
)
"""A word of another script in which each Latin letter looks like one of that script."""
_UNSEEN = f"[{invisible_characters.UNSEEN}]"
_CONTROL = f"[{invisible_characters.CONTROLS}]"
_OTHER_DIGIT = r"[\x{ff01}-\x{ff5e}\x{1d400}-\x{1d7ff}]"
_ESCAPED = r"&(?:[a-zA-Z]{2,8}|#\d+|#x[0-9a-fA-F]+);|%[0-9a-fA-F]{2}|\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[tnr0])|(?i:<br ?/?>)"
"""A character as HTML, an address or a programming language writes it."""
_QUOTES = "\"'`´‘’“”„«»"
_QUOTED = rf"^(?:=|'|[{_QUOTES}].*[{_QUOTES}]$)"


def faults_of(texts: pa.Array) -> list[tuple[str, Mask]]:
    """What is odd in each of these keys by itself; null is not. The words are reasons for a quarantine."""
    nothing = np.zeros(len(texts), dtype=bool)
    quoted = mask(pc.match_substring_regex(texts, _QUOTED))
    if pc.all(pc.ascii_is_printable(texts), min_count=0).as_py():
        return [("sku_quoted", quoted)]
    controls = mask(pc.match_substring_regex(texts, _CONTROL))
    unseen = mask(pc.match_substring_regex(texts, _UNSEEN))
    apart = mask(pc.not_equal(pc.utf8_normalize(texts, "NFC"), texts))
    digits = mask(pc.match_substring_regex(texts, _OTHER_DIGIT)) | _has_other_digit(texts)
    among = mask(pc.match_substring_regex(texts, _AMONG_LATIN))
    if among.any():  # each letter that is not Latin looks as if it were
        mixed = texts
        for _ in range(2):  # two words share the sign between them
            mixed = pc.replace_substring_regex(mixed, _WHOLE_WORD, r"\1\2")
        rest = pc.replace_substring_regex(mixed, f"[{_LETTERS}]", "")
        among = mask(pc.match_substring_regex(mixed, _AMONG_LATIN)) & ~mask(pc.match_substring_regex(rest, _DISTINCT))
        among |= mask(pc.match_substring_regex(texts, _ALIKE_IN_WORD))
    elif mask(pc.match_substring_regex(texts, _DISTINCT)).any():
        among = mask(pc.match_substring_regex(texts, _ALIKE_IN_WORD))
    return [
        ("sku_control_character", controls),
        ("sku_invisible_character", unseen),
        ("sku_quoted", quoted),
        ("sku_look_alike", (digits | among | apart) | nothing),
    ]


def bare(texts: pa.Array) -> pa.Array:
    """The texts without what cannot be seen, without quotes around them, in one form of each letter."""
    if not pc.all(pc.ascii_is_printable(texts), min_count=0).as_py():
        texts = pc.replace_substring_regex(texts, r"[\x{a0}\x{1680}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}\t]", " ")
        texts = pc.replace_substring_regex(texts, f"[{invisible_characters.UNSEEN}{invisible_characters.CONTROLS}]", "")
        texts = pc.utf8_normalize(texts, "NFKC")
    texts = pc.replace_substring_regex(texts, _ESCAPED, " ")
    texts = pc.replace_substring_regex(texts, rf"^[\s={_QUOTES};,]+|[\s{_QUOTES};,]+$", "")
    return pc.replace_substring_regex(texts, r" {2,}", " ")


def reads_as(texts: pa.Array) -> pa.Array:
    """The bare texts with Latin letters and digits of ASCII in place of what looks like them."""
    texts = bare(texts)
    if not pc.all(pc.ascii_is_printable(texts), min_count=0).as_py():
        for letter, latin in (_ALIKE | _SIGNS).items():
            texts = pc.replace_substring(texts, letter, latin)
        for digit, ascii_digit in _other_digits(texts):
            texts = pc.replace_substring(texts, digit, ascii_digit)
    return texts


def looks(texts: pa.Array) -> pa.Array:
    """What the texts read as, in capitals: the case is no difference."""
    return pc.utf8_upper(reads_as(texts))


def characters_of(texts: pa.Array) -> pa.Array:
    """For a message: `: NO-BREAK SPACE (U+00A0)`, the first odd character of each text; empty if it has none."""
    first = pc.utf8_slice_codeunits(_odd_characters(texts), 0, 1).dictionary_encode()
    names = [f": {invisible_characters.named(text)}" if text else "" for text in first.dictionary.to_pylist()]
    return pa.array(names, pa.string()).take(first.indices).fill_null("")


def digit_of(texts: pa.Array) -> pa.Array:
    """For a message: `: ARABIC-INDIC DIGIT ONE (U+0661)`, the first digit of another script in each text; empty if it has none."""
    if pc.all(pc.string_is_ascii(texts), min_count=0).as_py():
        return pa.repeat("", len(texts))
    digits = pc.replace_substring_regex(pc.replace_substring_regex(texts, r"\P{Nd}", ""), "[0-9]", "")
    first = pc.utf8_slice_codeunits(digits, 0, 1).dictionary_encode()
    names = [f": {invisible_characters.named(text)}" if text else "" for text in first.dictionary.to_pylist()]
    return pa.array(names, pa.string()).take(first.indices).fill_null("")


def is_odd(texts: pa.Array | pa.ChunkedArray) -> Mask:
    """Which of these keys are odd by themselves; each distinct text is looked at once."""
    coded = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    coded = coded.dictionary_encode()
    odd = np.logical_or.reduce([where for _, where in faults_of(coded.dictionary)])
    if not odd.any():
        return np.zeros(len(coded), dtype=bool)
    return mask(pa.array(odd).take(coded.indices).fill_null(False))


def _odd_characters(texts: pa.Array) -> pa.Array:
    """Only the odd characters of each text, the worst kind that it has."""
    found = pa.nulls(len(texts), pa.string())
    kinds = [
        _CONTROL,
        _UNSEEN,
        r"[\p{Nd}]",
        _OTHER_DIGIT,
        r"\p{M}",
        f"[{_LETTERS}]",
        f"[{_OF_LATIN}]",
        f"[={_QUOTES}]",
        _DASH,
    ]
    for kind in kinds:
        only = pc.replace_substring_regex(texts, rf"(?s)[^{kind.strip('[]')}]", "")
        if kind == r"[\p{Nd}]":
            only = pc.replace_substring_regex(only, "[0-9]", "")
        if kind == f"[{_OF_LATIN}]":
            only = pc.if_else(pc.match_substring_regex(texts, _ALIKE_IN_WORD), only, "")
        found = pc.coalesce(found, pc.if_else(pc.equal(only, ""), pa.scalar(None, pa.string()), only))
    return found


def _has_other_digit(texts: pa.Array) -> Mask:
    return mask(pc.match_substring_regex(pc.replace_substring_regex(texts, "[0-9]", ""), r"\p{Nd}"))


def _other_digits(texts: pa.Array) -> list[tuple[str, str]]:
    import unicodedata

    only = pc.unique(pc.replace_substring_regex(pc.replace_substring_regex(texts, r"[^\p{Nd}]", ""), "[0-9]", ""))
    digits = set("".join(only.drop_null().to_pylist()))
    return [(digit, str(unicodedata.decimal(digit))) for digit in sorted(digits)]


def is_odd_id(texts: pa.Array) -> Mask:
    """Which of these ids of stores are odd by themselves. A sign that looks like one of ASCII is odd here: a key may have it, an id has not."""
    return is_odd(texts) | mask(pc.match_substring_regex(texts, _DASH).fill_null(False))
