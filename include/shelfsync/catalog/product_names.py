"""What the ERP calls its products, for people: the names of one vendor, also of products that have left the ERP."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.alignment import column

NAME_CHARACTERS_MAX = 120
"""How many characters of a product's name are kept."""


def laid_over(known: pa.Table, found: pa.Table) -> pa.Table | None:
    """The known names (NAMES) with the found ones in place of theirs; None if that changes nothing."""
    others = known.filter(pc.invert(pc.is_in(column(known, "sku"), value_set=column(found, "sku"))))
    names = pa.concat_tables([others, found]).sort_by("sku")
    return None if names.equals(known) else names
