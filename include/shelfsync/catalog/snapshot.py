"""normalise: the ERP's rows of one vendor to canonical ones; what cannot be sent is quarantined with its reason, a row or one value of it.

Rows in = rows of the snapshot + rows of the quarantine that are not sent + repeated rows. docs/explanation/data-path.md lists the rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog import pieces, sales_limit
from shelfsync.catalog.faulty_values import ON_SALE, believed, sent_in_part
from shelfsync.catalog.one_line import CATEGORY_CHARACTERS_MAX, NAME_CHARACTERS_MAX, one_line
from shelfsync.catalog.repeated_rows import equal_to_an_earlier, quarantine_differing, shared
from shelfsync.rows import item, number, odd_characters, quarantine_reason, resembled_sku, total_row
from shelfsync.rows.alignment import ascending, column, padded
from shelfsync.rows.lost_digits import may_be_several
from shelfsync.rows.mask import mask
from shelfsync.rows.truth_words import truth_values
from shelfsync.schemas import FIELDS, NAMES, PRICE, QUARANTINE, RAW, SNAPSHOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shelfsync.rows.mask import Mask
    from shelfsync.settings import NormaliseSettings

_SKU_KEPT_CHARACTERS = 500
"""A longer SKU is only in the raw row of the quarantine: an index has to hold this column."""


@dataclass(frozen=True)
class Normalised:
    """`snapshot` in SNAPSHOT schema, sorted by sku; `quarantine` in QUARANTINE schema, in the order of the extract.

    `repeated` rows are equal to an earlier one of their SKU. `names` are those of the snapshot's products (NAMES), as far as the ERP gives them.
    """

    snapshot: pa.Table
    quarantine: pa.Table
    repeated: int = 0
    names: pa.Table = field(default_factory=NAMES.empty_table)

    @property
    def rows_quarantined(self) -> int:
        """The rows that are not sent."""
        rows: int = self.quarantine.num_rows - self.values_left_out
        return rows

    @property
    def values_left_out(self) -> int:
        """The values that are left out of rows that are sent."""
        return len(self.quarantine["row_sent"].filter(self.quarantine["row_sent"]))

    @property
    def rows_whole(self) -> int:
        """The rows of the snapshot whose price, quantity and `active` are believed as they came."""
        table = self.quarantine
        doubted = table.filter(pc.and_(table["row_sent"], pc.is_in(table["field"], value_set=pa.array(ON_SALE))))
        rows: int = self.snapshot.num_rows - len(pc.unique(doubted["row_number"]))
        return rows


def make_snapshot(
    raw: pa.Table,
    settings: NormaliseSettings,
    *,
    key: Literal["sku", "barcode"] = "sku",
    known: resembled_sku.Known | None = None,
) -> Normalised:
    """Canonical rows of the one vendor of `raw` (RAW schema), and the other rows with their reasons.

    `key`: the column that identifies an item (`platform.item_key`); rows without it cannot be sent. `known`: the SKUs
    that the platform has. Never fails on a value. Raises ValueError if the table has other columns or rows of several vendors.
    """
    if raw.column_names != RAW.names:
        raise ValueError(f"normalise: the raw table has the columns {raw.column_names}, not {RAW.names}")
    came = {name: _decodable(column(raw, name)) for name in RAW.names}
    findings = quarantine_reason.Findings(raw.num_rows)
    findings.note("row_unreadable", mask(pc.match_substring_regex(came["sku"], quarantine_reason.UNREADABLE_ROW)))
    findings.note("no_row", mask(pc.starts_with(came["sku"], quarantine_reason.NO_ROW)))
    with_vendor = _vendor(came["vendor"], findings)
    skus = _trimmed(came["sku"])
    findings.note("no_row", _no_rows(came, skus, known or resembled_sku.Known()))
    several = shared(skus, with_vendor)
    one = several & ~may_be_several(skus) if several.any() else several
    if one.any() and (repeated := equal_to_an_earlier(came, one, partial(_values, settings=settings))).any():
        found = make_snapshot(raw.filter(pa.array(~repeated)), settings, key=key, known=known)
        return replace(found, repeated=int(repeated.sum()))
    _check_sku(skus, findings, settings.sku_length_max)
    quarantine_differing(several, findings)
    odd = None if settings.odd_keys == "send" else resembled_sku.find(skus, known or resembled_sku.Known())
    for word, where in () if odd is None else odd.faults:
        findings.note(word, where)
    values, of_value, floored = _values(came, settings)
    values["sku"] = skus
    if key == "barcode":  # otherwise two SKUs may share one
        of_value["barcode"].note("barcode_missing", mask(values["barcode"].is_null()))
        of_value["barcode"].note("barcode_duplicate", shared(padded(values["barcode"]), with_vendor))
    values["active"] = sales_limit.on_sale(values["active"], values["max_sales_quantity"], settings)
    values |= believed(values, of_value, floored)
    sent = sent_in_part(values, of_value, key)
    for of_one in of_value.values():
        findings.add(of_one, ~sent)
    good = ~findings.faulty
    rows = pa.Table.from_arrays([values[name] for name in SNAPSHOT.names], schema=SNAPSHOT)
    rows = rows if good.all() else rows.filter(pa.array(good))
    quarantine = _quarantine(came, skus, findings, list(of_value.values()), odd)
    return Normalised(_sorted(rows), quarantine, names=_names(came["name"], skus, good))


def _no_rows(came: dict[str, pa.Array], skus: pa.Array, known: resembled_sku.Known) -> Mask:
    """Rows that are a total of others or a heading, and no product that the platform has."""
    rows = pa.table(came)
    candidates, headings = total_row.may_be(skus), total_row.headings(rows)
    if not (candidates.any() or headings.any()):
        return headings
    for names in (known.acknowledged, known.observed()):
        unknown = ~mask(pc.is_in(skus, value_set=names, skip_nulls=True).fill_null(False))
        candidates, headings = candidates & unknown, headings & unknown
    return headings | total_row.totals(rows, "sku", candidates) if candidates.any() else headings


def nameless(raw: pa.Table, settings: NormaliseSettings) -> pa.Table:
    """Rows without a usable vendor, as rows of the quarantine. Text that no database accepts (NUL, half characters) is only in `raw`."""
    return make_snapshot(raw.select(RAW.names), settings).quarantine


def _values(
    came: dict[str, pa.Array], settings: NormaliseSettings
) -> tuple[dict[str, pa.Array], dict[str, quarantine_reason.Findings], Mask]:
    """What is read of each row besides its key, the faults of each value, and which quantities lost a fraction."""
    of_value = {
        name: quarantine_reason.Findings(len(came["sku"])) for name in ("barcode", *FIELDS, "cost", "sales_buffer")
    }
    quantity = of_value["quantity"]
    quantities, floored = pieces.stock(_numbers("quantity", came["quantity"], quantity), quantity, settings)
    values = {
        "barcode": _barcode(came["barcode"], of_value["barcode"]),
        "price": _price(came["price"], of_value["price"]),
        "quantity": quantities,
        "active": _active(came["active"], of_value["active"]),
        "max_sales_quantity": _sales_limit(came["max_sales_quantity"], of_value["max_sales_quantity"]),
        "category": _category(came["category"]),
        "cost": _cost(came["cost"], of_value["cost"]),
        "sales_buffer": _sales_buffer(came["sales_buffer"], of_value["sales_buffer"]),
    }
    return values, of_value, floored


def _vendor(vendors: pa.Array, findings: quarantine_reason.Findings) -> Mask:
    """Notes rows without a usable vendor, and returns the mask of the others: a row without a vendor duplicates no row."""
    known = np.ones(len(vendors), dtype=bool)
    for word, where in quarantine_reason.vendor_faults(vendors):
        findings.note(word, where)
        known &= ~where
    names = pc.unique(vendors.filter(pa.array(known)))
    if len(names) > 1:
        raise ValueError(
            f"normalise: rows of several vendors in one table ({names[0]}, {names[1]}, …); it takes one vendor at a time"
        )
    return known


def _trimmed(came: pa.Array) -> pa.Array:
    """The text as it is (case, leading zeros, inner spaces), without the spaces around it that columns of fixed width add; blank is null."""
    texts = pc.utf8_trim(came, characters=" ")
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)


def _check_sku(skus: pa.Array, findings: quarantine_reason.Findings, length_max: int) -> None:
    """Notes keys that cannot be sent."""
    findings.note("sku_missing", mask(skus.is_null()))
    if not _plain(skus):
        findings.note("sku_undecodable", mask(pc.match_substring(skus, "\ufffd")))
        findings.note("sku_control_character", mask(pc.match_substring_regex(skus, r"\p{Cc}")))
    findings.note("sku_too_long", mask(pc.greater(pc.utf8_length(skus), length_max)))


def _barcode(came: pa.Array, findings: quarantine_reason.Findings) -> pa.Array:
    """Digits as they are, leading zeros kept; blank is null."""
    barcodes = _trimmed(came)
    for word, where in quarantine_reason.barcode_faults(barcodes):
        findings.note(word, where)
    return barcodes


def _price(came: pa.Array, findings: quarantine_reason.Findings) -> pa.Array:
    numbers = _numbers("price", came, findings)
    findings.note("price_negative", numbers.negative)
    findings.note("price_too_large", numbers.large)
    return numbers.magnitude


def _sales_limit(came: pa.Array, findings: quarantine_reason.Findings) -> pa.Array:
    return sales_limit.limits(_numbers("max_sales_quantity", came, findings), findings)


def _category(came: pa.Array) -> pa.Array:
    """One line without spaces around it; it is never sent, so it never quarantines a row."""
    if came.null_count == len(came):
        return came
    return one_line(came, CATEGORY_CHARACTERS_MAX)


def _names(came: pa.Array, skus: pa.Array, good: Mask) -> pa.Table:
    """One line without spaces around it; of repeated rows the first one's. It is never sent, so it never quarantines a row."""
    if came.null_count == len(came):
        return NAMES.empty_table()
    names = one_line(came, NAME_CHARACTERS_MAX)
    rows = pa.Table.from_arrays([skus, names], schema=NAMES)
    return _sorted(rows.filter(pa.array(good & mask(names.is_valid()))))


def _cost(came: pa.Array, findings: quarantine_reason.Findings) -> pa.Array:
    """Read like a price. It is never sent: a text that is no price is left out, and the guard `below_cost` has nothing to compare."""
    if came.null_count == len(came):
        return pa.nulls(len(came), PRICE)
    numbers = _numbers("cost", came, findings)
    findings.note("cost_negative", numbers.negative)
    findings.note("cost_too_large", numbers.large)
    return numbers.magnitude


def _sales_buffer(came: pa.Array, findings: quarantine_reason.Findings) -> pa.Array:
    """Whole pieces. It is never sent: an unusable one is left out, and suppresses no quantity."""
    if came.null_count == len(came):
        return pa.nulls(len(came), pa.int64())
    return pieces.whole("sales_buffer", _numbers("sales_buffer", came, findings), findings)


def _active(came: pa.Array, findings: quarantine_reason.Findings) -> pa.Array:
    values = truth_values(came)
    blank = pc.equal(pc.utf8_trim_whitespace(came), "").fill_null(True)
    findings.note("active_not_a_truth_value", mask(pc.and_(values.is_null(), pc.invert(blank))))
    return values


def _numbers(field: str, came: pa.Array, findings: quarantine_reason.Findings) -> number.Numbers:
    numbers = number.read(came)
    findings.note(f"{field}_decimal_comma", numbers.comma)
    findings.note(f"{field}_not_a_number", numbers.garbled)
    return numbers


def _plain(texts: pa.Array) -> bool:
    """Whether all of a column is printable ASCII, as nearly every column is: then nothing stranger has to be looked for."""
    return bool(pc.all(pc.ascii_is_printable(texts), min_count=0).as_py())


def _sorted(rows: pa.Table) -> pa.Table:
    skus = column(rows, "sku")
    if ascending(skus):
        return rows
    return rows.take(pc.array_sort_indices(skus))


def _quarantine(
    came: dict[str, pa.Array],
    skus: pa.Array,
    findings: quarantine_reason.Findings,
    of_value: Sequence[quarantine_reason.Findings],
    odd: resembled_sku.OddKeys | None,
) -> pa.Table:
    """The rows that are not sent, once each, and the values that are left out of the others."""
    parts = [_described(came, skus, findings, odd, row_sent=False)]
    for one in of_value:
        one.clear(findings.faulty)
        parts.append(_described(came, skus, one, odd, row_sent=True))
    return pa.concat_tables(parts).sort_by([("row_number", "ascending"), ("field", "ascending")])


def _described(
    came: dict[str, pa.Array],
    skus: pa.Array,
    findings: quarantine_reason.Findings,
    odd: resembled_sku.OddKeys | None,
    *,
    row_sent: bool,
) -> pa.Table:
    if not findings.faulty.any():
        return QUARANTINE.empty_table()
    where = pa.array(findings.faulty)
    rows = {name: values.filter(where) for name, values in came.items()}
    reasons = quarantine_reason.described(findings.numbers[findings.faulty], rows)
    shown = skus.filter(where)
    unusable = pc.match_substring_regex(shown, r"[\p{Cc}\x{FFFD}]")
    unusable = pc.or_(unusable, pc.greater(pc.utf8_length(shown), _SKU_KEPT_CHARACTERS)).fill_null(False)
    shown = pc.if_else(unusable, pa.scalar(None, pa.string()), shown)
    if odd is not None:  # the row is about the known SKU, which has therefore not left the extract
        shown = pc.coalesce(odd.resembled.filter(where), shown)
        of_sku = pc.equal(reasons["field"], "sku")
        note = pc.if_else(of_sku, odd.notes.filter(where).fill_null(""), "")
        reasons["message"] = pc.binary_join_element_wise(reasons["message"], note, "")
    without_vendor = pc.equal(reasons["field"], "vendor")
    if pc.any(without_vendor).as_py():
        note = pc.if_else(pc.equal(reasons["reason"], "vendor_odd"), odd_characters.characters_of(rows["vendor"]), "")
        reasons["message"] = pc.binary_join_element_wise(reasons["message"], note, "")
    no_text = pa.scalar(None, pa.string())
    columns = {
        "row_number": rows["row_number"],
        "vendor": pc.if_else(without_vendor, no_text, rows["vendor"]),
        "sku": shown,
        **reasons,
        "raw": item.objects(RAW.names, [rows[name] for name in RAW.names], longest=item.RAW_CHARACTERS_MAX),
        "row_sent": pa.repeat(pa.scalar(row_sent), len(shown)),
    }
    return pa.Table.from_arrays([columns[name] for name in QUARANTINE.names], schema=QUARANTINE)


def _decodable(values: pa.Array) -> pa.Array:
    """Text as it is; bytes that are no UTF-8, which an Arrow column can hold though it must not, as U+FFFD."""
    try:
        values.validate(full=True)
    except pa.ArrowInvalid:
        if not pa.types.is_string(values.type):
            raise
        texts = [
            None if data is None else data.decode("utf-8", "replace") for data in values.cast(pa.binary()).to_pylist()
        ]
        return pa.array(texts, pa.string())
    return values
