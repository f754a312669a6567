"""How the ERP writes numbers, truth values and "no value": from the source's own texts to the plain ones that later steps read.

| setting | the ERP's text | plain text |
|---|---|---|
| DECIMAL_MARK `,` and THOUSANDS_MARK `.` | `1.234,50` | `1234.50` |
| MINUS `any` | `3-`, `(3)` | `-3` |
| CURRENCIES `["€", "EUR"]` | `4,99 €`, `EUR 4,99` | `4.99` |
| NULL_WORDS `["NULL", "-"]` | `NULL` | null |
| TRUE_WORDS `["ja"]`, FALSE_WORDS `["nein"]` | `ja`, `Nein` | `true`, `false` |

`19,-`, a price without cents, is no number: its dash is no minus. Nothing is guessed. A text that is not written as the settings say stays no number, and its row is quarantined. Only texts of the source are
read so: a number that a database or a Parquet file gives as a number has one meaning already.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from shelfsync.settings import SourceSettings

Texts: TypeAlias = "pa.Array | pa.ChunkedArray"
"""A column of texts."""

DECIMAL_MARK = "SHELFSYNC_ERP__DECIMAL_MARK"
THOUSANDS_MARK = "SHELFSYNC_ERP__THOUSANDS_MARK"
TRUE_WORDS = "SHELFSYNC_ERP__TRUE_WORDS"
FALSE_WORDS = "SHELFSYNC_ERP__FALSE_WORDS"

NUMBERS = frozenset(
    {
        *("price", "quantity", "max_sales_quantity", "cost", "sales_buffer"),  # of the catalog
        *("base_price", "max_quantity", "purchased_quantity", "discounted_quantity", "pieces"),  # of the promotions
        *("max_discount_per_order", "max_items_per_order"),
    }
)
"""The columns of shelfsync that hold numbers."""

TRUTHS = frozenset({"active"})
"""The columns of shelfsync that hold truth values."""

_SPACES = r"[ \t\x{a0}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}]"
"""Every space that may stand in or around a number; a column of fixed width is padded with them."""
_GROUPS = {"": None, ".": r"\.", ",": ",", "'": r"['\x{2019}]", "space": _SPACES}
_THREE_BEHIND = r"^\s*[+-]?[1-9]\d{0,2}\.\d{3}\s*$"
_SIGN = r"[+\x{2212}-]?"
_DIGIT = "[0-9]"


@dataclass(frozen=True)
class Notation:
    """The settings about the texts of a source; the constructor raises ConfigurationError if they contradict each other."""

    decimal_mark: str = "."
    thousands_mark: str = ""
    minus: str = "leading"
    currencies: tuple[str, ...] = ()
    null_words: tuple[str, ...] = ()
    true_words: tuple[str, ...] = ()
    false_words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.decimal_mark == self.thousands_mark:
            raise ConfigurationError(
                THOUSANDS_MARK,
                f"it is {self.thousands_mark!r}, and so is {DECIMAL_MARK}",
                "Give each a mark of its own, or leave this one unset.",
            )
        both = sorted(_folded(self.true_words) & _folded(self.false_words))
        if both:
            raise ConfigurationError(FALSE_WORDS, f"{both[0]!r} is also in {TRUE_WORDS}", "Keep it in one of the two.")

    @classmethod
    def of(cls, settings: SourceSettings) -> Self:
        """The notation that the settings of a source describe."""
        return cls(
            settings.decimal_mark,
            settings.thousands_mark or "",
            settings.minus,
            tuple(settings.currencies),
            tuple(settings.null_words),
            tuple(settings.true_words),
            tuple(settings.false_words),
        )

    def plain(self, name: str, values: Texts, written: pa.Array | bool) -> Texts:
        """The texts of the column `name` of shelfsync in plain notation. `written`: which of them are texts in the source."""
        if written is False or not (self._acts_on(name) or (name in NUMBERS and written is not True)):
            return values
        plain = values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        if written is not True and name in NUMBERS and self.is_plain:
            plain = _without_ambiguous(plain, written)
        if self.null_words:
            null = _among(values, self.null_words)
            plain = pc.if_else(null, pa.scalar(None, pa.string()), plain)
        if name in NUMBERS and not self.is_plain:
            plain = self.numbers(plain)
        if name in TRUTHS and (self.true_words or self.false_words):
            plain = pc.if_else(_among(plain, self.true_words), "true", plain)
            plain = pc.if_else(_among(plain, self.false_words), "false", plain)
        return plain if written is True else pc.if_else(written, plain, values)

    def _acts_on(self, name: str) -> bool:
        words = self.true_words or self.false_words
        return bool(self.null_words or (name in NUMBERS and not self.is_plain) or (name in TRUTHS and words))

    @property
    def is_plain(self) -> bool:
        """Whether numbers are written as later steps read them."""
        return (self.decimal_mark, self.thousands_mark, self.minus, self.currencies) == (".", "", "leading", ())

    def numbers(self, texts: pa.Array) -> pa.Array:
        """Numbers of this notation as plain ones (`-1234.50`).

        Any other text that holds a digit gets the notation behind it, so that it is no number for any later step either.
        """
        simple = pc.match_substring_regex(texts, rf"^\d+(?:{re.escape(self.decimal_mark)}\d+)?$").fill_null(True)
        if pc.all(simple).as_py():  # as in most files
            return pc.replace_substring(texts, self.decimal_mark, ".", max_replacements=1)
        coded = texts.dictionary_encode(null_encoding="encode")
        return self._numbers(coded.dictionary).take(coded.indices)

    def _numbers(self, texts: pa.Array) -> pa.Array:
        found = pc.extract_regex(texts, self._pattern())
        part = {kind.name: found.field(place) for place, kind in enumerate(found.type)}
        signs = [part[name] for name in ("a", "b", "c", "d")]
        count = sum((_length(sign) for sign in signs), start=_zeros(texts))
        brackets = pc.add(_length(part["open"]), _length(part["close"]))
        fits = pc.and_(found.is_valid(), pc.less_equal(pc.add(count, pc.divide(brackets, 2)), 1))
        fits = pc.and_(fits, pc.not_equal(brackets, 1)).fill_null(False)
        # `19,-` is a price without cents and no minus: the sign stands where the decimals would
        dash = pc.and_(pc.ends_with(part["body"], self.decimal_mark), pc.greater(_length(part["c"]), 0))
        fits = pc.and_(fits, pc.invert(dash)).fill_null(False)
        minus = pc.equal(brackets, 2)
        for sign in signs:
            minus = pc.or_(minus, pc.is_in(sign, value_set=pa.array(["-", "\u2212"])))
        digits = part["body"]
        group = _GROUPS[self.thousands_mark]
        if group is not None:
            digits = pc.replace_substring_regex(digits, group, "")
        digits = pc.replace_substring(digits, self.decimal_mark, ".")
        plain = pc.binary_join_element_wise(pc.if_else(minus, "-", ""), digits, part["exponent"], "")
        odd = pc.and_(pc.invert(fits), pc.match_substring_regex(texts, _DIGIT)).fill_null(False)
        marked = pc.binary_join_element_wise(texts, f" ({self.sentence()})", "")
        return pc.if_else(fits, plain, pc.if_else(odd, marked, texts))

    def sentence(self) -> str:
        """The marks, for a person."""
        group = f", thousands mark {self.thousands_mark}" if self.thousands_mark else ""
        return f"decimal mark {self.decimal_mark}{group}"

    def _pattern(self) -> str:
        """A regular expression of RE2 with the groups open, a, b, body, exponent, c, d, close."""
        signs = sorted(self.currencies, key=len, reverse=True)
        currency = f"(?:{'|'.join(_quoted(sign) for sign in signs)})?" if signs else ""
        behind, opened, closed = (_SIGN, r"\(?", r"\)?") if self.minus == "any" else ("", "", "")
        s = f"{_SPACES}*"
        return (
            rf"^{s}(?P<open>{opened}){s}(?P<a>{_SIGN}){s}{currency}{s}(?P<b>{_SIGN}){s}"
            rf"(?P<body>{self._digits()})(?P<exponent>(?:[eE][+-]?\d+)?)"
            rf"{s}(?P<c>{behind}){s}{currency}{s}(?P<d>{behind}){s}(?P<close>{closed}){s}$"
        )

    def _digits(self) -> str:
        decimal = re.escape(self.decimal_mark)
        group = _GROUPS[self.thousands_mark]
        grouped = "" if group is None else rf"\d{{1,3}}(?:{group}\d{{3}})+(?:{decimal}\d*)?|"
        return rf"(?:{grouped}\d+(?:{decimal}\d*)?|{decimal}\d+)"


def is_written(values: Sequence[Any] | pa.Array | pa.ChunkedArray) -> pa.Array | bool:
    """Which of a source's values are texts: all, none, or a mask."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
        tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary)
        return any(test(kind) for test in tests)
    kinds = set(map(type, values)) - {type(None)}
    texts = {kind for kind in kinds if issubclass(kind, (str, bytes, bytearray, memoryview))}
    if not kinds - texts:
        return bool(texts)
    return pa.array([isinstance(value, tuple(texts)) for value in values]) if texts else False


def _without_ambiguous(values: pa.Array, written: pa.Array) -> pa.Array:
    """The values of a column of numbers and texts, each text such as `1.299` with a doubt behind it, so that it is no number for any later step.

    Numbers do not show what the mark of a text means. If one of them has three decimals, so may the text.
    """
    numbers = values.filter(pc.invert(written))
    texts = pc.and_(written, pc.match_substring_regex(values, _THREE_BEHIND)).fill_null(False)
    if not pc.any(texts).as_py() or pc.any(pc.match_substring_regex(numbers, r"\.\d{3}$")).as_py():
        return values
    doubted = pc.binary_join_element_wise(values, " (a text beside numbers: its mark may group thousands)", "")
    return pc.if_else(texts, doubted, values)


def _among(values: pa.Array, words: Sequence[str]) -> pa.Array:
    if not words:
        return pa.array(np.zeros(len(values), dtype=bool))
    folded = pc.utf8_lower(pc.utf8_trim_whitespace(values))
    return pc.is_in(folded, value_set=pa.array(sorted(_folded(words)), pa.string()))


def _folded(words: Sequence[str]) -> set[str]:
    return {word.strip().lower() for word in words}


def _quoted(sign: str) -> str:
    return re.escape(sign.strip())


def _length(values: pa.Array) -> pa.Array:
    return pc.min_element_wise(pc.utf8_length(values.fill_null("")), 1)


def _zeros(values: pa.Array) -> pa.Array:
    return pa.array(np.zeros(len(values), dtype=np.int32))
