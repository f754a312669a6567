"""Known values: the guards' comparison values, written beside a baseline with unknown values."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from shelfsync.catalog.ledger.vendors import BaselineVersion
    from shelfsync.context import Context


def write_known(
    context: Context, vendor: str, moved: pa.Table, base: BaselineVersion | None, items: pa.Table | None = None
) -> str | None:
    """Lake path of `moved` with unknown values filled from `base`, then from the sent values; None if that equals `moved`.

    The sent values (`items`, DELTA schema) passed the guards: for a SKU that was never acknowledged they are the best known ones.
    """
    from shelfsync.catalog.known import known

    earlier = [] if base is None else [context.lake.read_table(base.known_path)]
    filled = known(moved, *earlier, *([] if items is None else [items]))
    return None if filled.equals(moved) else context.lake.write_table("known", vendor, filled)
