# ruff: noqa: RUF001  the subject of this file
"""Keys that are another key only to a machine: what is odd in a SKU, and which known SKU it resembles.

A key that the platform knows with that very character is right as it is. Of the others, a key is odd by itself, or because it reads like a known
SKU. Whole columns are compared. Only rounded and damaged keys, which are few, are looked at one by one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync import characters
from shelfsync.catalog.item import quoted, visible
from shelfsync.catalog.number import mask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from shelfsync.catalog.number import Mask

_ALIKE = dict(
    zip(
        "АВЕЅІЈКМНОРСТУХҮѴԚԜԌаесорхуѕіјһԁԛԝѵкΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿονιραϲϳκՕօՍսՏհ",
        "ABESIJKMHOPCTYXYVQWGaecopxysijhdqwvkABEZHIKMNOPTYXCJovipacjkOoUuSh",
        strict=True,
    )
)
"""Letters of other scripts and the Latin letters that they look like."""
_SIGNS = dict(zip("‐‑‒–—−‘’ʼ′⁄∕․∶×ıɑɡ", "------''''//.:xiag", strict=True))
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
_UNSEEN = f"[{characters.UNSEEN}]"
_CONTROL = f"[{characters.CONTROLS}]"
_OTHER_DIGIT = r"[\x{ff01}-\x{ff5e}\x{1d400}-\x{1d7ff}]"
_QUOTES = "\"'`´‘’“”„«»"
_QUOTED = rf"^(?:=|'|[{_QUOTES}].*[{_QUOTES}]$)"
_NUMBER = r"^[+]?\d[\d.,' ]*(?:[eE][+]?\d{1,2})?$"
_DAMAGED = "\ufffd"
"""The mark of a text that did not decode (`erp.text`)."""
_OTHERWISE = r"^\d+[.,]0+$|^\d+(?:[.,]\d+)?[eE][+]\d+$"
"""A number as a spreadsheet writes it, and as few keys are."""
_ROUNDED_MAX = 1_000
"""So many distinct rounded or damaged keys are compared with the known SKUs."""


@dataclass(frozen=True)
class Known:
    """The SKUs of a vendor that the platform acknowledged, and by `observed` those that it showed: read only if a key is unknown.

    `whole`: the rows are all rows of the vendor, so that a known SKU without a row is absent.
    """

    acknowledged: pa.Array = field(default_factory=lambda: pa.array([], pa.string()))
    observed: Callable[[], pa.Array] = lambda: pa.array([], pa.string())
    whole: bool = True


@dataclass(frozen=True)
class OddKeys:
    """By the row: the words of quarantine reasons with their masks, what a message adds, and the known SKU that the key resembles."""

    faults: tuple[tuple[str, Mask], ...]
    notes: pa.Array
    resembled: pa.Array


def find(skus: pa.Array, known: Known) -> OddKeys | None:
    """What is odd in these SKUs; None if nothing is."""
    unknown = mask(pc.is_in(skus, value_set=known.acknowledged, skip_nulls=True).fill_null(False))
    unknown = ~unknown & mask(skus.is_valid())
    if not unknown.any():
        return None
    if not known.whole and not _may_be_odd(skus.filter(pa.array(unknown))):
        return None
    names = known.acknowledged
    observed = known.observed()
    if len(observed):
        unknown &= ~mask(pc.is_in(skus, value_set=observed, skip_nulls=True).fill_null(False))
        names = pc.unique(pa.concat_arrays([names, observed.filter(pc.invert(pc.is_in(observed, value_set=names)))]))
    places = np.flatnonzero(unknown)
    if not len(places):
        return None
    texts = skus.take(pa.array(places))
    words = faults_of(texts)
    odd = np.logical_or.reduce([where for _, where in words])
    gone = names.filter(pc.invert(pc.is_in(names, value_set=skus))) if known.whole else names.slice(0, 0)
    resembled = _resembled(texts, names, gone, odd)
    alike = mask(resembled.is_valid())
    if not (odd | alike).any():
        return None
    found = [*words, ("sku_resembles_known", alike & ~odd)]
    rows = len(skus)
    back = np.full(rows, -1, dtype=np.int64)
    back[places] = np.arange(len(places))
    at = pa.array(back, mask=back < 0)
    return OddKeys(
        tuple((word, _spread(where, places, rows)) for word, where in found),
        _notes(texts, resembled, odd).take(at),
        resembled.take(at),
    )


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
        texts = pc.replace_substring_regex(texts, f"[{characters.UNSEEN}{characters.CONTROLS}]", "")
        texts = pc.utf8_normalize(texts, "NFKC")
    texts = pc.replace_substring_regex(texts, r"&(?:nbsp|zwnj|zwj|shy|#\d+|#x[0-9a-fA-F]+);|%20|%C2%A0|%E2%80%8B", " ")
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


def code(texts: pa.Array) -> pa.Array:
    """The texts as a spreadsheet reads numbers: `0100001`, `100001.0`, `1.00001E+05`, `100,001` are `100001`."""
    texts = looks(texts)
    number = mask(pc.match_substring_regex(texts, _NUMBER))
    if number.any():
        places = pa.array(number)
        texts = pc.replace_with_mask(texts, places, _numbers(texts.filter(places)))
    texts = pc.replace_substring(texts, " ", "")
    stripped = pc.utf8_ltrim(texts, characters="0")
    return pc.if_else(pc.equal(stripped, ""), texts, stripped)


def _numbers(texts: pa.Array) -> pa.Array:
    texts = pc.replace_substring_regex(texts, r"^[+]?(\d{1,3}(?:[., ']\d{3})+)$", r"\1")
    grouped = mask(pc.match_substring_regex(texts, r"^\d{1,3}(?:[., ']\d{3})+$"))
    texts = pc.if_else(pa.array(grouped), pc.replace_substring_regex(texts, r"[., ']", ""), texts)
    texts = pc.replace_substring_regex(texts, r"^[+]?(\d+)[.,]0*$", r"\1")
    powers = mask(pc.match_substring_regex(texts, r"[eE]"))
    if not powers.any():
        return texts
    distinct = texts.filter(pa.array(powers)).dictionary_encode()
    written = pa.array([_plain(text) for text in distinct.dictionary.to_pylist()], pa.string())
    return pc.replace_with_mask(texts, pa.array(powers), written.take(distinct.indices))


def _plain(text: str) -> str:
    found = re.fullmatch(r"[+]?(\d+)(?:[.,](\d*))?[eE][+]?(\d+)", text)
    if found is None:
        return text
    whole, fraction, power = found.group(1), (found.group(2) or "").rstrip("0"), int(found.group(3))
    return whole + fraction.ljust(power, "0") if len(fraction) <= power else text


def _may_be_odd(texts: pa.Array) -> bool:
    return bool(is_odd(texts).any() or mask(pc.match_substring_regex(texts, _OTHERWISE)).any())


def _resembled(texts: pa.Array, known: pa.Array, gone: pa.Array, odd: Mask) -> pa.Array:
    """The known SKU that each text resembles, by the strictest comparison that finds one.

    A text that is not `odd` resembles a SKU of the extract only if it is a number written otherwise: two real SKUs may differ by a zero or by
    the case of a letter.
    """
    nothing = pa.nulls(len(texts), pa.string())
    if not len(known):
        return nothing
    otherwise = mask(pc.match_substring_regex(texts, _OTHERWISE))
    found = nothing
    for rows, among in ((odd | otherwise, known), (~(odd | otherwise), gone)):
        if not rows.any() or not len(among):
            continue
        places = pa.array(rows)
        these = texts.filter(places)
        best = pa.nulls(len(these), pa.string())
        for form in (bare, looks, code):
            best = pc.coalesce(best, among.take(pc.index_in(form(these), value_set=form(among))))
        found = pc.replace_with_mask(found, places, best)
    return _rounded(texts, found, gone)


def _rounded(texts: pa.Array, found: pa.Array, gone: pa.Array) -> pa.Array:
    """Also keys that lost digits (`4.00638E+12`) or were damaged: each row takes another of the SKUs that it may have been."""
    lost = mask(pc.match_substring_regex(texts, rf"^\d(?:[.,]\d+)?[eE][+]\d+$|^\d{{15}}0+$|{_DAMAGED}")) & mask(
        found.is_null()
    )
    if not lost.any() or not len(gone):
        return found
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for place in np.flatnonzero(lost).tolist():
        rows[texts[place].as_py()].append(place)
        if len(rows) > _ROUNDED_MAX:
            break
    codes = [sku for sku in gone.to_pylist() if sku.isascii() and sku.isdigit()]
    answers: dict[int, str] = {}
    for text, places in rows.items():
        names = _damaged(text, gone) if _DAMAGED in text else _of_digits(text, codes)
        answers |= dict(zip(places, names, strict=False))
    if not answers:
        return found
    values = found.to_pylist()
    for place, sku in answers.items():
        values[place] = sku
    return pa.array(values, pa.string())


def _of_digits(text: str, codes: Iterable[str]) -> list[str]:
    plain = _plain(text)
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


def _notes(texts: pa.Array, resembled: pa.Array, odd: Mask) -> pa.Array:
    """What a message adds: the first odd character by its name, and the SKU that the key resembles."""
    names_of = pc.if_else(pa.array(odd), characters_of(texts), "")
    like = pc.binary_join_element_wise(
        "; it resembles SKU ", visible(quoted(resembled)), ", which the platform knows", ""
    )
    return pc.binary_join_element_wise(names_of, like.fill_null(""), "")


def characters_of(texts: pa.Array) -> pa.Array:
    """For a message: `: NO-BREAK SPACE (U+00A0)`, the first odd character of each text; empty if it has none."""
    first = pc.utf8_slice_codeunits(_odd_characters(texts), 0, 1).dictionary_encode()
    names = [f": {characters.named(text)}" if text else "" for text in first.dictionary.to_pylist()]
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
    kinds = [_CONTROL, _UNSEEN, r"[\p{Nd}]", _OTHER_DIGIT, r"\p{M}", f"[{_LETTERS}]", f"[{_OF_LATIN}]", f"[={_QUOTES}]"]
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


def _spread(where: Mask, places: np.ndarray[tuple[int], np.dtype[np.int64]], rows: int) -> Mask:
    spread = np.zeros(rows, dtype=bool)
    spread[places[where]] = True
    return spread
