"""The categories of a store's products, as the ERP last named them. Nothing of them is sent: a guard reads them, and a person filters by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.catalog.ledger import extracts

if TYPE_CHECKING:
    import pyarrow as pa

    from shelfsync.context import Context


def categories(context: Context, vendor: str) -> list[str]:
    """Every category of the store, in order; none if the ERP has never named one, or if its file is gone."""
    import pyarrow.compute as pc

    found: list[str] = pc.unique(_known(context, vendor)["category"]).to_pylist()
    return sorted(found)


def skus_of_category(context: Context, vendor: str, category: str) -> list[str]:
    """The SKUs of a category, sold now or once, in order; none if the store has no such category."""
    import pyarrow.compute as pc

    known = _known(context, vendor)
    found: list[str] = known.filter(pc.equal(known["category"], category))["sku"].to_pylist()
    return found


def _known(context: Context, vendor: str) -> pa.Table:
    from shelfsync.catalog.guards.last_categories import SCHEMA

    with context.engine.connect() as connection:
        path = extracts.categories_of(connection, vendor)
    return context.lake.read_if_kept(path, SCHEMA)
