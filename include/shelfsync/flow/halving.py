"""What brought nothing whole, as two halves to send; and what is left of such a search, for the next delta to go on from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.ledger import batches, vendors

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.catalog.halving import Suspect
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.batches import PlannedBatch


def write_halves(parts: Parts, batch: PlannedBatch) -> list[tuple[str, int, int]]:
    """The two halves of a batch of two rows or more, in the lake: path, items, bytes of each."""
    from shelfsync.catalog.batch import stream
    from shelfsync.catalog.companion import alone
    from shelfsync.catalog.halving import halves
    from shelfsync.columns import BASELINE

    platform = parts.settings.platform
    with parts.engine.connect() as connection:
        base = vendors.current_baseline(connection, batch.vendor)
    held = BASELINE.empty_table() if base is None else parts.lake.read_table(base.path)
    found = []
    for piece in halves(parts.lake.read_table(batch.items_path)):
        half = alone(piece, held)
        size = len(stream(half, key=platform.key, sales_limit_name=platform.sales_limit_name))
        found.append((parts.lake.write_table("batch", batch.vendor, half), half.num_rows, size))
    return found


def suspects(parts: Parts, connection: Connection, vendor: str, *, before: int) -> list[Suspect]:
    """The halves of older generations that nobody has sent: what they cover is cut there again, so that nothing is searched twice."""
    from shelfsync.catalog.halving import Suspect

    found = []
    for one in batches.halves_planned(connection, vendor, before=before):
        skus: pa.ChunkedArray = parts.lake.read_table(one.items_path, columns=["sku"])["sku"]
        found.append(Suspect(skus[0].as_py(), skus[-1].as_py(), one.halved_from or 0))
    return found
