"""The feedback about single items that a job's status has: it stands for the log of a job without one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shelfsync.catalog.line_outcome import log_lines, unreadable_lines
from shelfsync.schemas import LOG
from shelfsync.storable import encodable

if TYPE_CHECKING:
    from collections.abc import Sequence


def parse_feedback(feedback: Sequence[Any]) -> pa.Table:
    """The `item_level_feedback` of a job's status in LOG schema, for a job without a log. An entry that is no item names no SKU."""
    entries = [entry for entry in feedback if isinstance(entry, dict)]
    strange = [entry for entry in feedback if not isinstance(entry, dict)]
    lines = log_lines(
        sku=_texts([entry.get("sku") for entry in entries]),
        barcode=_texts([entry.get("barcode", entry.get("piece_barcode")) for entry in entries]),
        state=_texts([entry.get("status", entry.get("state")) for entry in entries]),
        errors=_texts([_reasons(entry) for entry in entries]),
        raw=_texts([_json(entry) for entry in entries]),
    )
    problems = ["the entry is no item"] * len(strange)
    tables = [LOG.empty_table(), lines, unreadable_lines(problems, _texts([_json(entry) for entry in strange]))]
    return pa.concat_tables(tables).combine_chunks()


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
