"""known: what the guards compare with is written beside a baseline in which something is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.vendors import BaselineVersion


def write_known(
    parts: Parts, vendor: str, moved: pa.Table, base: BaselineVersion | None, items: pa.Table | None = None
) -> str | None:
    """Lake path of `moved` with its gaps filled by what was known at `base`, then by what was sent; None when that is `moved` itself.

    What was sent (`items`, DELTA shape) passed the guards: of a SKU that was never acknowledged it is the best that is known.
    """
    from shelfsync.catalog.known import known

    earlier = [] if base is None else [parts.lake.read_table(base.known_path)]
    filled = known(moved, *earlier, *([] if items is None else [items]))
    return None if filled.equals(moved) else parts.lake.write_table("known", vendor, filled)
