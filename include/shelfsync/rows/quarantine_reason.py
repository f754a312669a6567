"""Why a row is quarantined: every reason, in the order of the checks. A row carries the first that holds.

docs/reference/quarantine.md is made from them. The faults of vendor ids and barcodes are found here too: a vendor's id
has to fit the platform's addresses, the ledger's indexes and the lake's folders.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows import item, odd_characters
from shelfsync.rows.alignment import BARCODE_DIGITS_MAX
from shelfsync.rows.mask import mask
from shelfsync.schemas import FIELDS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from shelfsync.rows.mask import Mask

_SHOWN_CHARACTERS = 80
UNREADABLE = "\ufffd "
"""Begins the text that stands in the column `sku` for a row that cannot be read, before the row's place in its source."""
UNREADABLE_ROW = f"^{UNREADABLE}(?:lines?|row) "
"""Such a text, as a regular expression."""
NO_ROW = UNREADABLE + "beside the rows: "
"""The same for what a program wrote beside the rows, such as a total."""


@dataclass(frozen=True)
class Reason:
    """`word` is stable and for machines; `sentence` is for a person, `{value}` in it being the value as it came."""

    word: str
    field: str
    sentence: str


def _number_reasons(field: str) -> list[Reason]:
    """What may be wrong with the text of a number."""
    return [
        Reason(
            f"{field}_decimal_comma",
            field,
            f"{field} {{value}} has a comma, and its source is set to write another mark (DECIMAL_MARK)",
        ),
        Reason(f"{field}_not_a_number", field, f"{field} {{value}} is not a finite decimal number"),
        Reason(f"{field}_negative", field, f"{field} {{value}} is below zero"),
    ]


def amount_reasons(field: str) -> list[Reason]:
    """What may be wrong with an amount of money."""
    return [
        *_number_reasons(field),
        Reason(f"{field}_too_large", field, f"{field} {{value}} has more than 17 digits before the point"),
    ]


def _pieces_reasons(field: str) -> list[Reason]:
    return [
        *_number_reasons(field),
        Reason(f"{field}_not_whole", field, f"{field} {{value}} is not a whole number of pieces"),
        Reason(f"{field}_too_large", field, f"{field} {{value}} is more than 2147483647"),
    ]


SKU_REASONS: tuple[Reason, ...] = (
    Reason("sku_missing", "sku", "the row has no SKU, so it cannot be sent to the platform"),
    Reason(
        "sku_undecodable", "sku", "sku {value} was damaged on its way: part of it is not text in the encoding expected"
    ),
    Reason("sku_control_character", "sku", "sku {value} has a control character in it"),
    Reason("sku_invisible_character", "sku", "sku {value} has a character in it that cannot be seen"),
    Reason("sku_quoted", "sku", "sku {value} has the quotes or the guard of a spreadsheet around it"),
    Reason("sku_look_alike", "sku", "sku {value} has a character in it that looks like another one"),
    Reason(
        "sku_resembles_known", "sku", "sku {value} is unknown to the platform and may be a known one, written otherwise"
    ),
    Reason(
        "sku_as_float",
        "sku",
        "sku {value} went through a floating-point number, so its last digits are lost; export the column as text",
    ),
    Reason(
        "sku_unlike_others",
        "sku",
        "sku {value} is unknown to the platform, and nearly all others of the store are numbers: a program made it another thing of a number, or a digit of"
        " its barcode is missing or wrong",
    ),
    Reason("sku_too_long", "sku", "sku {value} is longer than allowed (SHELFSYNC_NORMALISE__SKU_LENGTH_MAX)"),
)
"""What may be wrong with a SKU by itself, whatever its row is about."""

REASONS: tuple[Reason, ...] = (
    Reason("row_unreadable", "sku", "a row of the file cannot be read: {value}"),
    Reason("no_row", "sku", "a program wrote this beside the rows, and it is no row: {value}"),
    Reason("vendor_missing", "vendor", "the row names no store"),
    Reason("vendor_characters", "vendor", "vendor {value} has characters that no identifier has"),
    Reason("vendor_odd", "vendor", "vendor {value} only looks like the id of a store"),
    Reason("vendor_too_long", "vendor", "vendor {value} has more than 255 characters, which no identifier has"),
    Reason("vendor_is_folder", "vendor", "vendor {value} is a way through folders, which no address can hold"),
    *SKU_REASONS,
    Reason(
        "sku_duplicate",
        "sku",
        "sku {value} is in rows of this vendor that differ, and which one is right is unknown",
    ),
    Reason("barcode_missing", "barcode", "the row has no barcode, and barcodes identify the items"),
    Reason(
        "barcode_as_float",
        "barcode",
        "barcode {value} went through a floating-point number, so its digits cannot be trusted; export the column as text",
    ),
    Reason("barcode_not_digits", "barcode", "barcode {value} has something other than digits"),
    Reason("barcode_too_long", "barcode", "barcode {value} has more than 14 digits"),
    Reason(
        "barcode_duplicate",
        "barcode",
        "barcode {value} is on more than one SKU, and barcodes identify the items",
    ),
    *amount_reasons("price"),
    *_pieces_reasons("quantity"),
    Reason(
        "active_not_a_truth_value",
        "active",
        "active {value} is no truth value (SHELFSYNC_ERP__TRUE_WORDS and FALSE_WORDS name others)",
    ),
    *_pieces_reasons("max_sales_quantity"),
    Reason(
        "max_sales_quantity_zero",
        "max_sales_quantity",
        "max_sales_quantity {value} is no limit that the platform takes (SHELFSYNC_NORMALISE__SALES_LIMIT_ZERO)",
    ),
    *amount_reasons("cost"),
    *_pieces_reasons("sales_buffer"),
)


class Findings:
    """The first reason of each row, whatever order the checks come in."""

    reasons: tuple[Reason, ...] = REASONS

    def __init__(self, rows: int) -> None:
        self._number_of = {reason.word: number for number, reason in enumerate(self.reasons)}
        self.numbers: npt.NDArray[np.int16] = np.full(rows, len(self.reasons), dtype=np.int16)

    def note(self, word: str, where: Mask) -> None:
        """The reason `word` holds for the rows of the mask."""
        number = self._number_of[word]
        self.numbers[where & (self.numbers > number)] = number

    def add(self, others: Findings, among: Mask) -> None:
        """The reasons of `others`, for the rows of the mask."""
        np.minimum(self.numbers, others.numbers, out=self.numbers, where=among)

    def clear(self, where: Mask) -> None:
        """No reason holds for the rows of the mask any more."""
        self.numbers[where] = len(self.reasons)

    @property
    def faulty(self) -> Mask:
        """Rows with any reason."""
        return self.numbers < len(self.reasons)


def described(
    numbers: npt.NDArray[np.int16], values: Mapping[str, pa.Array], reasons: Sequence[Reason] = REASONS
) -> dict[str, pa.Array]:
    """The columns field, reason and message of rows with these numbers of `reasons`; `values` are the rows' raw texts by field."""
    codes = pa.array(numbers)
    message = pa.nulls(len(codes), pa.string())
    for number in np.unique(numbers).tolist():
        where = pc.equal(codes, number)
        reason = reasons[number]
        before, mark, after = reason.sentence.partition("{value}")
        came = values[reason.field].filter(where)
        shown = _shown(came)
        if reason.word.endswith("_not_a_number"):
            after = pc.binary_join_element_wise(after, odd_characters.digit_of(came), "")
        text = pc.binary_join_element_wise(before, shown, after, "") if mark else pa.repeat(reason.sentence, len(shown))
        message = pc.replace_with_mask(message, where, text)
    return {
        "field": pa.array([reason.field for reason in reasons], pa.string()).take(codes),
        "reason": pa.array([reason.word for reason in reasons], pa.string()).take(codes),
        "message": message,
    }


def _shown(texts: pa.Array) -> pa.Array:
    """Values in quotes, escaped, and cut to what fits a line of a report."""
    texts = pc.replace_substring_regex(texts.fill_null(""), f"^{UNREADABLE}(?:{NO_ROW.removeprefix(UNREADABLE)})?", "")
    long = pc.greater(pc.utf8_length(texts), _SHOWN_CHARACTERS)
    start = item.quoted(pc.utf8_slice_codeunits(texts, 0, _SHOWN_CHARACTERS))
    return item.visible(pc.if_else(long, pc.binary_join_element_wise(start, "…", ""), start))


VENDOR_LENGTH_MAX = 255
_STRANGE = r"[\p{Cc}\x{FFFD}]"


def vendor_faults(vendors: pa.Array) -> list[tuple[str, Mask]]:
    """What makes a vendor id useless, in the order in which it is looked at; each is one of REASONS."""
    trimmed = pc.utf8_trim(vendors, characters=" \t\r\n")
    return [
        ("vendor_missing", ~mask(pc.not_equal(trimmed, ""))),
        ("vendor_characters", mask(pc.match_substring_regex(vendors, _STRANGE))),
        ("vendor_odd", odd_characters.is_odd_id(trimmed)),
        ("vendor_too_long", mask(pc.greater(pc.utf8_length(trimmed), VENDOR_LENGTH_MAX))),
        ("vendor_is_folder", mask(pc.is_in(trimmed, value_set=pa.array([".", ".."])))),
    ]


def unusable(vendors: pa.Array) -> Mask:
    """Rows without a usable vendor."""
    return sum((where for _, where in vendor_faults(vendors)), start=mask(pa.array([False] * len(vendors))))


def names_nothing(skus: pa.Array | pa.ChunkedArray) -> Mask:
    """Which of these keys are a word for "no value", such as `NULL` or `#N/A`, or have neither letter nor digit."""
    return mask(pc.match_substring_regex(skus, _NOTHING))


def of_no_product(rows: pa.Table, constants: Collection[str] = ()) -> Mask:
    """Rows of an extract that may be about any product: their SKU cannot be read, or is not there although the row is one of a product's.

    A row of a store without a SKU that has figures alone may be a total, and one with a name alone a heading. What is one of the `constants`
    stands in every row.
    """
    skus = rows["sku"]
    found = mask(pc.match_substring_regex(skus, UNREADABLE_ROW))
    blank = mask(pc.equal(pc.utf8_trim(skus, characters=" "), "").fill_null(True)) | names_nothing(skus)
    if blank.any() and set(FIELDS) <= set(rows.column_names):
        for some in (("name", "price", "active"), FIELDS):
            own = [pc.utf8_trim_whitespace(rows[name]) for name in some if name not in constants]
            blank &= np.logical_or.reduce([mask(pc.not_equal(one, "")) for one in own])
        found = found | (blank & ~unusable(pc.utf8_trim_whitespace(rows["vendor"]).combine_chunks()))
    return found


_NOTHING = r"^\s*(?:(?i:\(?null\)?|\\n|n/a|n\.a\.?|#nv|#n/a|#[a-z]+(?:/0)?[?!])|nan|NaN|None|[?.-]+)\s*$"


def is_usable(vendor: str) -> bool:
    """Whether this one text can be a vendor's id."""
    try:
        return not unusable(pa.array([vendor], pa.string())).any()
    except UnicodeEncodeError:
        return False


_AS_FLOAT = r"^[+-]?(?:\d+\.\d*|\.\d+|\d+(?:\.\d*)?[eE][+-]?\d+|\.\d+[eE][+-]?\d+)$"


def barcode_faults(barcodes: pa.Array) -> list[tuple[str, Mask]]:
    """The first fault of each barcode; null has no fault."""
    strange = mask(pc.invert(pc.ascii_is_decimal(barcodes)))
    as_float = mask(pc.match_substring_regex(barcodes, _AS_FLOAT)) if strange.any() else strange
    return [
        ("barcode_as_float", as_float),
        ("barcode_not_digits", strange),
        ("barcode_too_long", mask(pc.greater(pc.binary_length(barcodes), BARCODE_DIGITS_MAX))),
    ]
