"""What the ERP calls its products, for people: names and categories in one line, and the names of products that have left the ERP."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.alignment import column

NAME_CHARACTERS_MAX = 120
"""How many characters of a product's name are kept."""
CATEGORY_CHARACTERS_MAX = 200


def one_line(came: pa.Array, longest: int) -> pa.Array:
    """Each text as one line without spaces around it, cut at this length; a blank one is null."""
    lines = pc.replace_substring_regex(pc.utf8_trim_whitespace(came), r"\p{Cc}", " ")
    return pc.if_else(pc.equal(lines, ""), pa.scalar(None, pa.string()), pc.utf8_slice_codeunits(lines, 0, longest))


def laid_over(known: pa.Table, found: pa.Table) -> pa.Table | None:
    """The known names (NAMES) with the found ones in place of theirs; None if that changes nothing."""
    others = known.filter(pc.invert(pc.is_in(column(known, "sku"), value_set=column(found, "sku"))))
    names = pa.concat_tables([others, found]).sort_by("sku")
    return None if names.equals(known) else names
