"""The outcome of each SKU that was sent, read from what the platform reports and never concluded from a missing report.

Always sent = accepted + rejected + unaccounted: there is exactly one outcome for every SKU of the items (I1).

A job without a log may end by the listing, an observation newer than the sending (I2). The listing shows price and availability only, so
it confirms only items without any other field. A difference proves nothing: the listing shows a change late. Nor does a match prove
anything if the listing may still show an older, equal value.
"""

from __future__ import annotations

import json
from decimal import ROUND_DOWN, Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync import display
from shelfsync.catalog import log_reader, outcome_words
from shelfsync.rows.alignment import column, padded, require_order
from shelfsync.schemas import FIELDS, LOG, OUTCOME
from shelfsync.storable import encodable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import numpy.typing as npt

    from shelfsync.rows.truth import Mask


Key = Literal["sku", "barcode"]

NO_LINE = "the log has no line about this SKU"
_AMBIGUOUS = "a line of the log may be about either of two SKUs"
_NO_ITEM = -1


def parse_log(
    file: BinaryIO, *, whole: bool = False, expanded_max_bytes: int = log_reader.EXPANDED_BYTES_MAX
) -> pa.Table:
    """A log file in LOG schema, line by line in its order; the text is read as a stream.

    `whole`: the length of the file was proven, so a last line without a line break is a line. Raises a TruncatedLogError with the
    complete lines if the file is truncated, and a DataError if it is no log (a web page, JSON, nothing, damaged gzip).
    """
    tables: list[pa.Table] = []
    try:
        tables.extend(log_reader.read(file, whole=whole, expanded_max_bytes=expanded_max_bytes))
    except log_reader.TruncatedLogError as error:
        raise log_reader.TruncatedLogError(error.problem, _joined(tables)) from None
    return _joined(tables)


def parse_feedback(feedback: Sequence[Any]) -> pa.Table:
    """The `item_level_feedback` of a job's status in LOG schema, for a job without a log. An entry that is no item names no SKU."""
    entries = [entry for entry in feedback if isinstance(entry, dict)]
    strange = [entry for entry in feedback if not isinstance(entry, dict)]
    lines = outcome_words.log_lines(
        sku=_texts([entry.get("sku") for entry in entries]),
        barcode=_texts([entry.get("barcode", entry.get("piece_barcode")) for entry in entries]),
        state=_texts([entry.get("status", entry.get("state")) for entry in entries]),
        errors=_texts([_reasons(entry) for entry in entries]),
        raw=_texts([_json(entry) for entry in entries]),
    )
    problems = ["the entry is no item"] * len(strange)
    return _joined([lines, outcome_words.unreadable_lines(problems, _texts([_json(entry) for entry in strange]))])


def match(items: pa.Table, log: pa.Table, key: Key = "sku") -> pa.Table:
    """One outcome (OUTCOME schema, sorted by sku) for every item sent (DELTA schema), by the lines of its job's log (LOG schema).

    Only `key`, by which the items were sent, identifies an item. Of several lines about one SKU the worst counts: rejected, then
    unaccounted, then accepted. A SKU without a line, or with a line that may be about another SKU too, is unaccounted. Raises ValueError if
    the items are not sorted and unique by sku.
    """
    skus = column(items, "sku")
    require_order(skus, "the table of items sent")
    places, ambiguous = _places(items, log, key)
    lines = _worst(places, column(log, "state"), len(skus))
    lines[ambiguous] = _NO_ITEM
    taken = pa.array(lines, mask=lines == _NO_ITEM)
    states, reasons = column(log, "state").take(taken), column(log, "reason").take(taken)
    why = pc.if_else(pa.array(ambiguous, pa.bool_()), _AMBIGUOUS, NO_LINE)
    columns = {
        "sku": skus,
        "state": states.fill_null("unaccounted"),
        "reason": pc.if_else(states.is_null(), why, reasons),
        "raw": column(log, "raw").take(taken),
    }
    return pa.Table.from_arrays([columns[name] for name in OUTCOME.names], schema=OUTCOME)


def unmatched(items: pa.Table, log: pa.Table, key: Key = "sku") -> pa.Table:
    """The lines (LOG schema) about no SKU that was sent: those of other jobs, and those that cannot be read. They move nothing."""
    places, _ = _places(items, log, key)
    return log.filter(pa.array(places == _NO_ITEM, pa.bool_()))


def _places(items: pa.Table, log: pa.Table, key: Key) -> tuple[npt.NDArray[np.int64], Mask]:
    """For each line the row of its item, or -1; and a mask of the items whose lines are ambiguous."""
    ambiguous = np.zeros(items.num_rows, dtype=np.bool_)
    if key == "sku":
        return _found(column(log, "sku"), column(items, "sku")), ambiguous
    called = padded(column(items, "barcode"))
    by_barcode = _found(padded(column(log, "barcode")), called)
    by_sku = _found(padded(column(log, "sku")), called)  # a log may have the item's key in `sku`, whichever key that is
    torn = (by_barcode != _NO_ITEM) & (by_sku != _NO_ITEM) & (by_barcode != by_sku)
    ambiguous[by_barcode[torn]] = True
    ambiguous[by_sku[torn]] = True
    shared = called.dictionary_encode().indices.fill_null(_NO_ITEM).to_numpy(zero_copy_only=False)
    counts = np.bincount(shared[shared != _NO_ITEM], minlength=1)
    ambiguous |= (shared != _NO_ITEM) & (counts[shared] > 1)
    return np.where(by_barcode == _NO_ITEM, by_sku, by_barcode), ambiguous


def _found(names: pa.Array, among: pa.Array) -> npt.NDArray[np.int64]:
    places = pc.index_in(names, value_set=among, skip_nulls=True).fill_null(_NO_ITEM)
    return np.asarray(places.to_numpy(zero_copy_only=False), dtype=np.int64)


def _worst(places: npt.NDArray[np.int64], states: pa.Array, items: int) -> npt.NDArray[np.int64]:
    """For each item the number of the line that decides, or -1: the worst state, and of equals the first line."""
    badness = pc.index_in(states, value_set=pa.array(["accepted", "unaccounted", "rejected"])).to_numpy(
        zero_copy_only=False
    )
    lines = np.arange(len(places))
    decisive = np.full(items, _NO_ITEM, dtype=np.int64)
    matched = places != _NO_ITEM
    if not matched.any() or np.bincount(places[matched]).max() == 1:  # no item has two lines, as it should be
        decisive[places[matched]] = lines[matched]
        return decisive
    order = np.lexsort((lines, -badness.astype(np.int64), places))
    order = order[places[order] != _NO_ITEM]
    found, first = np.unique(places[order], return_index=True)
    decisive[found] = order[first]
    return decisive


def _reasons(entry: dict[str, Any]) -> str:
    """Why the platform rejected the item, in one text: each reason with the data it is about."""
    given = entry.get("rejection_reasons") or []
    texts = []
    for reason in given if isinstance(given, list) else [given]:
        if isinstance(reason, dict):
            why, data = reason.get("rejected_reason"), reason.get("rejected_data")
            reason_text = str(why or "no reason given")
            texts.append(reason_text if data is None or data == "" else f"{reason_text} ({data})")
        else:
            texts.append(str(reason))
    return "; ".join(texts)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _texts(values: Sequence[Any]) -> pa.Array:
    """Values of JSON as texts; lone surrogates, which JSON can spell and UTF-8 cannot, are marked with U+FFFD."""
    texts = [None if value is None else str(value) for value in values]
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:
        return pa.array([text and encodable(text) for text in texts], pa.string())


def _joined(tables: list[pa.Table]) -> pa.Table:
    return pa.concat_tables([LOG.empty_table(), *tables]).combine_chunks()


PROVABLE = ("price", "active")
_MILL = Decimal("0.001")
_DIGITS = 14
_PRICE_DIGITS = 17
"""Before the point, as in schemas.PRICE."""


class Shown(NamedTuple):
    """One product of the listing."""

    sku: str | None
    barcodes: tuple[str, ...]
    price: Decimal | None
    active: bool | None


def provable(items: pa.Table) -> pa.Table:
    """The items (DELTA schema) that a listing can confirm."""
    mask = pa.repeat(pa.scalar(True), items.num_rows)
    for name in FIELDS:
        if name not in PROVABLE:
            mask = pc.and_(mask, items[name].combine_chunks().is_null())
    return items.filter(mask)


def perhaps_older(items: pa.Table, before: pa.Table, sent: pa.Table) -> dict[str, set[str]]:
    """Field of PROVABLE -> the SKUs of `items` whose listing may still show an older value that equals the one sent.

    `sent`: SENDING schema, oldest first, what was sent before `items` within the time that a change needs to show. `before`: BASELINE
    schema, what was acknowledged before the first of it. A value is perhaps an older one if another value was sent after it.
    """
    wanted = {row["sku"]: row for row in items.select(["sku", *PROVABLE]).to_pylist()}
    earlier = before.filter(pc.is_in(column(before, "sku"), value_set=column(items, "sku")))
    found: dict[str, set[str]] = {name: set() for name in PROVABLE}
    for name in PROVABLE:
        held = dict(zip(earlier["sku"].to_pylist(), earlier[name].to_pylist(), strict=True))
        seen = {sku for sku, value in held.items() if value is not None and value == wanted[sku][name]}
        for row in sent.select(["sku", "state", "quantity", *PROVABLE]).to_pylist():
            sku, value = row["sku"], row[name]
            by_quantity = name == "active" and row["quantity"] is not None
            if row["state"] == "rejected" or sku not in wanted or (value is None and not by_quantity):
                continue
            if value == wanted[sku][name] and not by_quantity:
                seen.add(sku)
            elif sku in seen:
                found[name].add(sku)
    return found


def listing_lines(
    items: pa.Table,
    shown: Iterable[Shown],
    key: Key = "sku",
    *,
    perhaps_older: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> pa.Table:
    """LOG lines for the provable items that the listing shows: accepted where every value sent is what it shows, else unaccounted.

    A price is compared as the platform keeps it, cut to three decimals; barcodes are compared with their padding. `perhaps_older`: field ->
    the SKUs whose match proves nothing.
    """
    by: dict[str, Shown] = {}
    for one in shown:
        names = (one.sku,) if key == "sku" else tuple(_padded(barcode) for barcode in one.barcodes)
        for name in names:
            if name is not None:
                by.setdefault(name, one)
    rows = []
    for item in provable(items).to_pylist():
        called = item["sku"] if key == "sku" else _padded(item["barcode"] or "")
        if called is not None and called in by:
            unproven = [name for name in PROVABLE if item["sku"] in perhaps_older.get(name, ())]
            rows.append(_line(item, by[called], unproven))
    return pa.Table.from_pylist(rows, schema=LOG)


def _line(item: dict[str, Any], seen: Shown, unproven: list[str]) -> dict[str, Any]:
    has = {"price": _cut(seen.price), "active": seen.active}
    differs = [name for name in PROVABLE if item[name] is not None and item[name] != has[name]]
    texts = {name: None if has[name] is None else str(has[name]) for name in PROVABLE}
    reasons = [
        f"the listing shows {name} {display.value(name, has[name])}, sent was {display.value(name, item[name])}"
        for name in differs
    ]
    reasons += [
        f"the listing may still show {name} {display.value(name, item[name])} from before, as another value was sent in between"
        for name in unproven
        if item[name] is not None and name not in differs
    ]
    return {
        "sku": item["sku"],
        "barcode": item["barcode"],
        "state": "unaccounted" if reasons else "accepted",
        "reason": "; ".join(reasons) or None,
        "raw": json.dumps({"listing": {"sku": seen.sku, **texts}}, ensure_ascii=False),
    }


def _cut(price: Decimal | None) -> Decimal | None:
    """The price as the platform keeps it; None for a number that is no price, of any magnitude."""
    return None if price is None or price.adjusted() > _PRICE_DIGITS else price.quantize(_MILL, ROUND_DOWN)


def _padded(barcode: str) -> str | None:
    return barcode.zfill(_DIGITS) if barcode.isascii() and barcode.isdigit() and len(barcode) <= _DIGITS else None
