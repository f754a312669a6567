"""normalise: the ERP's rows of one vendor (or of `*`) to canonical ones; faulty rows go to quarantine with a reason.

Rows in = rows out + rows of the quarantine + repeated rows. A row with a faulty head freezes its campaign: shelfsync sends nothing for it until the head
is corrected. If a row has another fault, the platform keeps its values of that SKU. A row that the platform
cannot express is never offered: its SKU leaves the promotion.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.promotions import quarantine_reason
from shelfsync.promotions.audience_condition import read_meanings
from shelfsync.promotions.head import SUBTYPES, TYPES, Fault, Heads
from shelfsync.promotions.schemas import HEAD, KEPT, QUARANTINE, RAW, ROWS
from shelfsync.rows import item, number, resembled_sku
from shelfsync.rows import quarantine_reason as catalog_reason
from shelfsync.rows.alignment import column
from shelfsync.rows.mask import Mask, mask
from shelfsync.rows.number import INT32_MAX
from shelfsync.schemas import PRICE

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping

    import numpy.typing as npt

    from shelfsync.promotions.head import Head
    from shelfsync.settings import PromotionSettings

_SKU_KEPT_CHARACTERS = 500
_FAULTY = -1


@dataclass(frozen=True)
class Normalised:
    """`rows` in ROWS shape, `quarantine` in QUARANTINE shape, `kept` in KEPT shape, campaigns that are `frozen` by a faulty head.

    `unoffered` in KEPT shape: SKUs of quarantined rows that the platform cannot express. `repeated` rows are equal to an earlier one.
    """

    rows: pa.Table
    quarantine: pa.Table
    kept: pa.Table
    unoffered: pa.Table
    frozen: frozenset[str] = field(default_factory=frozenset)
    repeated: int = 0


def normalise(
    raw: pa.Table,
    heads: Heads,
    settings: PromotionSettings,
    *,
    sku_length_max: int,
    known: resembled_sku.Known | None = None,
) -> Normalised:
    """Canonical rows of the one vendor that `raw` (RAW shape) is about, and the rest with reasons. No value raises an error.

    `known`: the SKUs that the platform has; None: a SKU that only looks like another one is no fault.
    """
    raw_columns = {name: column(raw, name) for name in RAW.names}
    numbers, faults = _heads(raw_columns, heads)
    findings = quarantine_reason.Findings(raw.num_rows)
    skus = _sku(raw_columns["sku"], findings, sku_length_max)
    odd = None if known is None else resembled_sku.find(skus, known)
    for word, where in () if odd is None else odd.faults:
        findings.note(word, where)
    read_meanings(raw_columns, findings, settings)
    pieces = np.array([head.pieces or 1 for head in heads.all] + [1], np.int64)[numbers]  # the last: no head
    subtypes, values = _discount(raw_columns, findings, settings, pieces > 1)
    columns = {
        "row_number": raw_columns["row_number"],
        "head": pa.array(numbers),
        "sku": skus.fill_null(""),
        "subtype": subtypes,
        "value": values,
        "max_quantity": _count(raw_columns["max_quantity"], findings),
        "base_price": _amount("base_price", raw_columns["base_price"], findings),
        "cost": _amount("cost", raw_columns["cost"], findings),
    }
    well_headed = numbers != _FAULTY
    repeated = _repeated(columns, findings, well_headed & mask(skus.is_valid()))
    notes = None if odd is None else odd.notes
    if odd is not None:  # the platform keeps its values of the known SKU
        skus = pc.coalesce(odd.resembled, skus)
        columns["sku"] = skus.fill_null("")
    good = ~findings.faulty & well_headed & ~repeated
    table = pa.table({name: columns[name] for name in ROWS.names})
    named = findings.faulty & well_headed & mask(skus.is_valid())
    keys = table.select(KEPT.names).cast(KEPT)
    return Normalised(
        rows=table.filter(pa.array(good)).cast(ROWS),
        quarantine=_quarantine(raw_columns, skus, findings, numbers, faults, notes=notes),
        kept=keys.filter(pa.array(named & ~findings.not_expressible)),
        unoffered=keys.filter(pa.array(named & findings.not_expressible)),
        frozen=frozenset(
            one for fault in faults.values() for one in (fault.campaign, fault.resembled) if one is not None
        ),
        repeated=int(repeated.sum()),
    )


def quarantined(
    raw: pa.Table, row_numbers: pa.Array, reasons: npt.NDArray[np.int16], messages: Mapping[int, str] | None = None
) -> pa.Table:
    """Rows that later steps found faulty, in QUARANTINE shape; `reasons` are reason numbers in the order of `row_numbers`.

    `messages`: sentences by row number, where they are more than the reason's.
    """
    positions = pc.index_in(row_numbers, value_set=column(raw, "row_number"))
    rows = raw.take(positions)
    raw_columns = {name: column(rows, name) for name in RAW.names}
    findings = quarantine_reason.Findings(rows.num_rows)
    findings.numbers = reasons
    return _quarantine(
        raw_columns,
        pc.utf8_trim(raw_columns["sku"], characters=" "),
        findings,
        np.zeros(rows.num_rows, np.int32),
        {},
        messages,
    )


def nameless(raw: pa.Table) -> pa.Table:
    """Rows of no usable vendor, in QUARANTINE shape."""
    raw_columns = {name: column(raw, name) for name in RAW.names}
    findings = catalog_reason.Findings(raw.num_rows)
    for word, where in catalog_reason.vendor_faults(raw_columns["vendor"]):
        findings.note(word, where)
    skus = pc.utf8_trim(raw_columns["sku"], characters=" ")
    return _table(raw_columns, skus, catalog_reason.described(findings.numbers, raw_columns))


def _heads(raw_columns: dict[str, pa.Array], heads: Heads) -> tuple[npt.NDArray[np.int32], dict[int, Fault]]:
    """The number of each row's head, -1 where it is faulty; the faults by row."""
    rows = len(raw_columns["row_number"])
    if rows == 0:
        return np.zeros(0, np.int32), {}
    texts = [raw_columns[name].fill_null("") for name in HEAD]
    codes = pc.binary_join_element_wise(*texts, "\x1f").dictionary_encode().indices.to_numpy(zero_copy_only=False)
    distinct, first = np.unique(codes, return_index=True)
    values = {name: raw_columns[name].take(pa.array(first)).to_pylist() for name in HEAD}
    numbers = np.full(int(distinct.max()) + 1, _FAULTY, np.int32)
    faulty: dict[int, Fault] = {}
    for place, code in enumerate(distinct.tolist()):
        found = heads.find({name: values[name][place] for name in HEAD})
        if isinstance(found, Fault):
            faulty[code] = found
        else:
            numbers[code] = found
    where = np.flatnonzero(np.isin(codes, list(faulty))) if faulty else np.zeros(0, np.int64)
    return numbers[codes], {int(row): faulty[int(codes[row])] for row in where}


def _sku(raw_columns: pa.Array, findings: quarantine_reason.Findings, length_max: int) -> pa.Array:
    """As in the catalog: kept as it is but for spaces around it."""
    skus = pc.utf8_trim(raw_columns, characters=" ")
    skus = pc.if_else(pc.equal(skus, ""), pa.scalar(None, pa.string()), skus)
    findings.note("sku_missing", mask(skus.is_null()))
    findings.note("sku_undecodable", mask(pc.match_substring(skus, "\ufffd")))
    findings.note("sku_control_character", mask(pc.match_substring_regex(skus, r"\p{Cc}")))
    findings.note("sku_too_long", mask(pc.greater(pc.utf8_length(skus), length_max)))
    return skus


def _repeated(columns: dict[str, pa.Array], findings: quarantine_reason.Findings, known: Mask) -> Mask:
    """Rows that equal an earlier one of their promotion. If rows of one SKU contradict each other, each is quarantined."""
    places = np.flatnonzero(known & ~findings.not_expressible)
    keys = _codes([columns["head"], columns["sku"]], places)
    twice = np.bincount(keys, minlength=1)[keys] > 1
    places, keys = places[twice], keys[twice]
    repeated = np.zeros(len(known), dtype=np.bool_)
    if not len(places):
        return repeated
    names = ("head", "sku", "subtype", "value", "max_quantity", "base_price", "cost")
    contents = _codes([*(columns[name] for name in names), pa.array(findings.faulty)], places)
    _, first = np.unique(contents, return_index=True)
    contradicted = np.bincount(keys[first])[keys] > 1
    where = np.zeros(len(known), dtype=np.bool_)
    where[places[contradicted]] = True
    findings.note("sku_duplicate", where)
    later = np.ones(len(places), dtype=np.bool_)
    later[first] = False
    repeated[places[later]] = True
    return repeated & ~findings.faulty


def _codes(columns: list[pa.Array], places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """A number for each of the rows, the same for rows that are equal in these columns."""
    texts = [values.take(pa.array(places)).cast(pa.string()).fill_null("\x00") for values in columns]
    joined = pc.binary_join_element_wise(*texts, "\x1f").dictionary_encode()
    return np.asarray(joined.indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def _discount(
    raw_columns: dict[str, pa.Array],
    findings: quarantine_reason.Findings,
    settings: PromotionSettings,
    together: Mask,
) -> tuple[pa.Array, pa.Array]:
    """The meaning of the price column, and its value: cut after three decimals, above zero. `together`: it is of several pieces."""
    text = pc.utf8_upper(pc.utf8_trim_whitespace(raw_columns["discount_type"])).fill_null("")
    subtypes = pc.if_else(pc.equal(text, ""), "FINAL_PRICE", text)
    findings.note("discount_type_unknown", ~mask(pc.is_in(subtypes, value_set=pa.array(SUBTYPES[settings.values]))))
    findings.note("discount_type_unknown", together & ~mask(pc.equal(subtypes, "FINAL_PRICE")))
    if "SAME_ITEM_BUNDLE" not in TYPES[settings.values]:
        findings.note("bundle_not_offered", together)
    subtypes = pc.if_else(pa.array(together), "TOTAL_PRICE", subtypes)
    values = _amount("price", raw_columns["price"], findings)
    text = pc.utf8_trim_whitespace(raw_columns["price"]).fill_null("")
    findings.note("price_missing", mask(pc.equal(text, "")))
    findings.note("price_zero", mask(pc.less_equal(values, pa.scalar(0, values.type))))
    percentage = mask(pc.equal(subtypes, "PERCENTAGE"))
    beyond = mask(pc.or_(pc.less(values, pa.scalar(1, values.type)), pc.greater(values, pa.scalar(100, values.type))))
    findings.note("price_not_a_percentage", percentage & beyond)
    return subtypes, values.fill_null(0)


def _amount(field_name: str, raw_columns: pa.Array, findings: quarantine_reason.Findings) -> pa.Array:
    if raw_columns.null_count == len(raw_columns):  # most campaigns leave it empty
        return pa.nulls(len(raw_columns), PRICE)
    numbers = number.read(raw_columns)
    findings.note(f"{field_name}_decimal_comma", numbers.comma)
    findings.note(f"{field_name}_not_a_number", numbers.garbled)
    findings.note(f"{field_name}_negative", numbers.negative)
    findings.note(f"{field_name}_too_large", numbers.large)
    return numbers.magnitude


def _count(raw_columns: pa.Array, findings: quarantine_reason.Findings) -> pa.Array:
    if raw_columns.null_count == len(raw_columns):
        return pa.nulls(len(raw_columns), pa.int64())
    numbers = number.read(raw_columns)
    pieces = numbers.pieces()
    useless = mask(pc.or_(pc.less(pieces, 1), pc.greater(pieces, INT32_MAX)))
    strange = numbers.comma | numbers.garbled | numbers.negative | numbers.fraction | numbers.large
    findings.note("max_quantity_not_a_count", useless | strange)
    return pieces


def _quarantine(
    raw_columns: dict[str, pa.Array],
    skus: pa.Array,
    findings: quarantine_reason.Findings,
    heads: npt.NDArray[np.int32],
    faults: dict[int, Fault],
    messages: Mapping[int, str] | None = None,
    notes: pa.Array | None = None,
) -> pa.Table:
    well_headed = findings.faulty & (heads != _FAULTY)
    parts = []
    if well_headed.any():
        where = pa.array(well_headed)
        rows = {name: values.filter(where) for name, values in raw_columns.items()}
        described = quarantine_reason.described(findings.numbers[well_headed], rows, messages)
        if notes is not None:
            note = pc.if_else(pc.equal(described["field"], "sku"), notes.filter(where).fill_null(""), "")
            described["message"] = pc.binary_join_element_wise(described["message"], note, "")
        parts.append(_table(rows, skus.filter(where), described))
    if faults:
        places = pa.array(sorted(faults), pa.int64())
        of = [faults[place] for place in sorted(faults)]
        described = {
            name: pa.array([getattr(fault, name) for fault in of], pa.string())
            for name in ("field", "reason", "message")
        }
        parts.append(
            _table({name: values.take(places) for name, values in raw_columns.items()}, skus.take(places), described)
        )
    return pa.concat_tables(parts).sort_by("row_number") if parts else QUARANTINE.empty_table()


def _table(rows: dict[str, pa.Array], skus: pa.Array, described: dict[str, pa.Array]) -> pa.Table:
    unusable = pc.match_substring_regex(skus, r"[\p{Cc}\x{FFFD}]")
    unusable = pc.or_(unusable, pc.greater(pc.utf8_length(skus), _SKU_KEPT_CHARACTERS)).fill_null(False)
    columns = {
        "row_number": rows["row_number"],
        "vendor": rows["vendor"],
        "sku": pc.if_else(unusable, pa.scalar(None, pa.string()), skus),
        **described,
        "raw": item.objects(RAW.names, [rows[name] for name in RAW.names], longest=item.RAW_CHARACTERS_MAX),
    }
    return pa.Table.from_arrays([columns[name] for name in QUARANTINE.names], schema=QUARANTINE)


def merged(own: Normalised, every: Normalised, heads: list[Head]) -> Normalised:
    """The rows of one vendor and those of `*` together. Within a campaign, the vendor's own row of a SKU overrides the row for all."""
    if every.rows.num_rows + every.kept.num_rows + every.unoffered.num_rows == 0:
        return own
    names = pa.array([head.campaign for head in heads], pa.string())
    own_rows = pa.concat_tables([own.rows.select(KEPT.names), own.kept, own.unoffered])
    keys = _keys(own_rows, names)

    def remaining(table: pa.Table) -> pa.Table:
        return table.filter(pc.invert(pc.is_in(_keys(table, names), value_set=keys))) if own_rows.num_rows else table

    return Normalised(
        rows=pa.concat_tables([own.rows, remaining(every.rows)]),
        quarantine=own.quarantine,
        kept=pa.concat_tables([own.kept, remaining(every.kept)]),
        unoffered=pa.concat_tables([own.unoffered, remaining(every.unoffered)]),
        frozen=own.frozen | every.frozen,
    )


def without_what_is_over(of: Normalised, heads: Heads, now: dt.datetime) -> Normalised:
    """Without rows whose period is over: their promotions end, whatever is wrong with them, and no person has to decide about them."""
    lasting = pa.array([number for number, head in enumerate(heads.all) if head.end > now], pa.int32())
    if len(lasting) == len(heads.all):
        return of

    def in_time(table: pa.Table) -> pa.Table:
        return table.filter(pc.is_in(column(table, "head"), value_set=lasting))

    return replace(of, rows=in_time(of.rows), kept=in_time(of.kept), unoffered=in_time(of.unoffered))


def _keys(table: pa.Table, campaigns: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(campaigns.take(column(table, "head")), column(table, "sku"), "\x1f")
