"""The words of the platform's result file: which state of a line counts as success, which as failure, and what becomes of any other.

The lines come from a job's log or from the errors of a job's status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.schemas import LOG
from shelfsync.storable import REPLACEMENT

if TYPE_CHECKING:
    from typing import Any

_SUCCESS = pa.array(["success", "successful", "succeeded", "ok", "accepted"])
_FAILURE = pa.array(["failed", "failure", "fail", "error", "errored", "rejected", "refused", "invalid"])
_WELL = pa.array(["", "null", "none", "[]", "{}"])
_REASON_CHARACTERS = 1000


def log_lines(*, sku: pa.Array, barcode: pa.Array, state: pa.Array, errors: pa.Array, raw: pa.Array) -> pa.Table:
    """Lines of a log in LOG schema.

    A word of success without an error is accepted. A word of failure, or a word of success with an error, is rejected, with the platform's
    text as reason. Any other word is unaccounted, with the word as reason.
    """
    state, errors, each = _distinct(state.fill_null(""), errors.fill_null(""))
    outcome, reason = _outcomes(state, errors)
    columns = {
        "sku": _storable(sku),
        "barcode": _storable(barcode),
        "state": outcome.take(each),
        "reason": reason.take(each),
        "raw": raw,
    }
    return pa.Table.from_arrays([columns[name] for name in LOG.names], schema=LOG)


def _distinct(state: pa.Array, errors: pa.Array) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Every pair of the two texts once, and for each line the number of its pair: the log of a whole store has few distinct pairs."""
    states, texts = state.dictionary_encode(), errors.dictionary_encode()
    number = pc.add(pc.multiply(states.indices.cast(pa.int64()), len(texts.dictionary)), texts.indices.cast(pa.int64()))
    pairs = number.dictionary_encode()
    first = pc.divide(pairs.dictionary, max(len(texts.dictionary), 1))
    second = pc.subtract(pairs.dictionary, pc.multiply(first, len(texts.dictionary)))
    return states.dictionary.take(first), texts.dictionary.take(second), pairs.indices


def _outcomes(state: pa.Array, errors: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The outcome and the reason of each pair of texts."""
    word = pc.utf8_lower(pc.utf8_trim_whitespace(state))
    one_line = pc.replace_substring_regex(errors, r"[\t\r\n]+", " ")  # a page asks for the rows of a reason by its text
    errors = _storable(pc.utf8_trim_whitespace(one_line))
    well = pc.is_in(pc.utf8_lower(errors), value_set=_WELL)
    success, failure = pc.is_in(word, value_set=_SUCCESS), pc.is_in(word, value_set=_FAILURE)
    rejected = pc.or_(failure, pc.and_(success, pc.invert(well)))
    shown = _storable(word)
    strange = pc.if_else(
        pc.equal(word, ""), "the line has no state", pc.binary_join_element_wise("unknown state '", shown, "'", "")
    )
    strange = pc.if_else(well, strange, pc.binary_join_element_wise(strange, ": ", errors, ""))
    plain = pc.binary_join_element_wise(shown, ", and the platform gives no reason", "")
    reason = pc.case_when(
        pc.make_struct(pc.and_(success, well), pc.and_(rejected, well), rejected),
        pa.nulls(len(word), pa.string()),
        plain,
        errors,
        strange,
    )
    outcome = pc.if_else(rejected, "rejected", pc.if_else(success, "accepted", "unaccounted"))
    return outcome, pc.utf8_slice_codeunits(reason, 0, _REASON_CHARACTERS)


def unreadable_lines(problems: list[str], raw: pa.Array) -> pa.Table:
    """Lines without a SKU, in LOG schema: stored for a person, never matched."""
    rows = len(problems)
    columns: dict[str, Any] = {
        "state": pa.repeat(pa.scalar("unaccounted"), rows),
        "reason": pa.array(problems, pa.string()),
        "raw": raw,
    }
    return pa.Table.from_arrays([columns.get(field.name, pa.nulls(rows, field.type)) for field in LOG], schema=LOG)


def _storable(texts: pa.Array) -> pa.Array:
    """Text without NUL, which a database does not take; a SKU that had one was never sent, so nothing can match by this."""
    return pc.replace_substring(texts, "\x00", REPLACEMENT)
