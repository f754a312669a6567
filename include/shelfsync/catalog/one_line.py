"""A product's name or category is one line, and is cut at some length. Both are for people."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

NAME_CHARACTERS_MAX = 120
"""How many characters of a product's name are kept."""
CATEGORY_CHARACTERS_MAX = 200


def one_line(came: pa.Array, longest: int) -> pa.Array:
    """Each text as one line without spaces around it, cut at this length; a blank one is null."""
    lines = pc.replace_substring_regex(pc.utf8_trim_whitespace(came), r"\p{Cc}", " ")
    return pc.if_else(pc.equal(lines, ""), pa.scalar(None, pa.string()), pc.utf8_slice_codeunits(lines, 0, longest))
