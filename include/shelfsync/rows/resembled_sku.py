"""Keys that are another key only to a machine: which known SKU a key resembles, so that it is quarantined and the known one stays as it is.

A key that the platform knows with that very character is right as it is. Of the others, a key is odd by itself, or because it reads like a known
SKU, or because it lost digits (`lost_digits`). Whole columns are compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows import unlike_key
from shelfsync.rows.item import quoted, visible
from shelfsync.rows.lost_digits import FLOAT, KEYS_MAX, with_lost_digits, written_out
from shelfsync.rows.mask import mask
from shelfsync.rows.odd_characters import bare, characters_of, faults_of, is_odd, looks
from shelfsync.rows.quarantine_reason import names_nothing

if TYPE_CHECKING:
    from collections.abc import Callable

    from shelfsync.rows.mask import Mask

_NUMBER = r"^[+]?\d[\d.,' ]*(?:[eE][+]?\d{1,2})?$"
_LABELS = (
    *(
        "sku",
        "art",
        "artikel",
        "article",
        "articulo",
        "articolo",
        "item",
        "no",
        "nr",
        "num",
        "nummer",
        "number",
        "plu",
        "id",
        "n°",
    ),
    *("code", "cod", "ean", "gtin", "upc", "barcode", "ref", "prod", "product", "produkt", "urn"),
    *("\u0430\u0440\u0442", "\u0430\u0440\u0442\u0438\u043a\u0443\u043b", "\u043a\u043e\u0434"),
)
_LABELLED = rf"(?i)^(?:(?:{'|'.join(_LABELS)})[^\p{{L}}\p{{N}}]*)+(\d{{4,}})$"
"""A number behind words that only name it: `sku100007`, `Art. 100007`, `urn:sku:100007`. Another word or letter makes another product."""
_OTHERWISE = r"^\d+[.,]0+$|^\d+(?:[.,]\d+)?[eE][+]\d+$"
"""A number as a spreadsheet writes it, and as few keys are."""


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
    unlike = unlike_key.find(texts, pc.unique(pa.concat_arrays([skus.drop_null(), names])))
    resembled = _meant(texts, _resembled(texts, names, gone, odd), unlike, gone)
    alike = mask(resembled.is_valid())
    lost, nothing = mask(pc.match_substring_regex(texts, FLOAT)), names_nothing(texts)
    if not (odd | alike | lost | nothing | unlike).any():
        return None
    found = [
        ("sku_missing", nothing),
        *words,
        ("sku_resembles_known", alike & ~odd),
        ("sku_as_float", lost & ~alike & ~odd),
        ("sku_unlike_others", unlike & ~alike & ~odd),
    ]
    rows = len(skus)
    back = np.full(rows, -1, dtype=np.int64)
    back[places] = np.arange(len(places))
    at = pa.array(back, mask=back < 0)
    return OddKeys(
        tuple((word, _spread(where, places, rows)) for word, where in found),
        _notes(texts, resembled, odd).take(at),
        resembled.take(at),
    )


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


def signs(texts: pa.Array) -> pa.Array:
    """Only the letters, without accents, and digits of the texts, with O, I and L as the digits for which a person or a scanner takes them."""
    kept = pc.replace_substring_regex(pc.utf8_normalize(looks(texts), "NFKD"), r"[\x{300}-\x{36f}]", "")
    kept = pc.replace_substring_regex(kept, r"[^\p{L}\p{N}]", "")
    kept = pc.replace_substring_regex(pc.replace_substring(kept, "O", "0"), "[IL]", "1")
    return pc.if_else(pc.equal(kept, ""), texts, kept)


def _numbers(texts: pa.Array) -> pa.Array:
    texts = pc.replace_substring_regex(texts, r"^[+]?(\d{1,3}(?:[., ']\d{3})+)$", r"\1")
    grouped = mask(pc.match_substring_regex(texts, r"^\d{1,3}(?:[., ']\d{3})+$"))
    texts = pc.if_else(pa.array(grouped), pc.replace_substring_regex(texts, r"[., ']", ""), texts)
    texts = pc.replace_substring_regex(texts, r"^[+]?(\d+)[.,]0*$", r"\1")
    powers = mask(pc.match_substring_regex(texts, r"[eE]"))
    if not powers.any():
        return texts
    distinct = texts.filter(pa.array(powers)).dictionary_encode()
    written = pa.array([written_out(text) for text in distinct.dictionary.to_pylist()], pa.string())
    return pc.replace_with_mask(texts, pa.array(powers), written.take(distinct.indices))


def _may_be_odd(texts: pa.Array) -> bool:
    otherwise = mask(pc.match_substring_regex(texts, _OTHERWISE)) | names_nothing(texts) | unlike_key.may_be(texts)
    return bool(is_odd(texts).any() or otherwise.any())


def _resembled(texts: pa.Array, known: pa.Array, gone: pa.Array, odd: Mask) -> pa.Array:
    """The known SKU that each text resembles, by the strictest comparison that finds one.

    A text that is not `odd` resembles a SKU of the extract only if it is a number written otherwise: two real SKUs may differ by a zero, by
    the case of a letter or by a label. Resembling a SKU that left keeps both as they are: the platform has no product of an unknown SKU.
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
        for form in (bare, looks, code, signs):
            best = pc.coalesce(best, among.take(pc.index_in(form(these), value_set=form(among))))
        if among is gone:
            best = pc.coalesce(best, _by_label(these, gone))
        found = pc.replace_with_mask(found, places, best)
    return with_lost_digits(texts, found, gone)


def _by_label(texts: pa.Array, gone: pa.Array) -> pa.Array:
    """The SKU that left the extract and is the same number, where one of the two has a label and the other has none.

    Two labels make two SKUs (`A1001`, `B1001`), and so does what stands behind a number, because variants are written so.
    """
    ours, theirs = code(texts), code(gone)
    found = [
        pc.index_in(_unlabelled(texts), value_set=theirs, skip_nulls=True),
        pc.index_in(ours, value_set=_unlabelled(gone), skip_nulls=True),
    ]
    return gone.take(pc.coalesce(*found))


def _unlabelled(texts: pa.Array) -> pa.Array:
    """The number behind the label of each text; null where there is none."""
    texts = pc.utf8_normalize(texts, "NFKC")
    labelled = pc.match_substring_regex(texts, _LABELLED)
    numbers = pc.replace_substring_regex(texts, _LABELLED, r"\1")
    return pc.if_else(labelled, code(numbers), pa.scalar(None, pa.string()))


def _meant(texts: pa.Array, found: pa.Array, unlike: Mask, gone: pa.Array) -> pa.Array:
    """Also what a key that is unlike the others may have been."""
    if not len(gone) or not (rows := np.flatnonzero(unlike & mask(found.is_null()))).size:
        return found
    values = found.to_pylist()
    for place in rows[:KEYS_MAX].tolist():
        values[place] = next(iter(unlike_key.meant(texts[place].as_py(), gone)), None)
    return pa.array(values, pa.string())


def _notes(texts: pa.Array, resembled: pa.Array, odd: Mask) -> pa.Array:
    """What a message adds: the first odd character by its name, and the SKU that the key resembles."""
    names_of = pc.if_else(pa.array(odd), characters_of(texts), "")
    like = pc.binary_join_element_wise(
        "; it resembles SKU ", visible(quoted(resembled)), ", which the platform knows", ""
    )
    return pc.binary_join_element_wise(names_of, like.fill_null(""), "")


def _spread(where: Mask, places: np.ndarray[tuple[int], np.dtype[np.int64]], rows: int) -> Mask:
    spread = np.zeros(rows, dtype=bool)
    spread[places[where]] = True
    return spread
