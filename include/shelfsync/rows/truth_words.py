"""Which words mean true and which mean false, in any case and with spaces around them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

TRUE, FALSE = ("true", "1", "1.0", "t", "yes", "y"), ("false", "0", "0.0", "f", "no", "n")
"""The words for truth, in lower case."""


def truth_values(texts: pa.Array) -> pa.Array:
    """The truth value of each text; null for any other word, and for none."""
    words = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    true = pc.is_in(words, value_set=pa.array(TRUE))
    known = pc.or_(true, pc.is_in(words, value_set=pa.array(FALSE)))
    return pc.if_else(known, true, pa.scalar(None, pa.bool_()))
