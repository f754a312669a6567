"""A folder in which an ERP puts files of changes, and what shelfsync made of them."""

from __future__ import annotations

import itertools

import sqlalchemy as sa

from shelfsync.catalog.ledger import readings

HEADER = "vendor,sku,price,quantity,active,barcode,max_sales_quantity\n"
PART = "sku,barcode,price,quantity,active,max_sales_quantity\n"
"""Of a file in a folder that is named as its store."""
STORES = ("store-001", "store-002")
_keys = itertools.count(1)


def drop(folder, name, *rows, end="\n"):
    """A file as an ERP puts it there: written under another name, then renamed."""
    text = HEADER + "\n".join(",".join(map(str, row)) + ",," for row in rows) + end
    (folder / f".{name}").write_text(text)
    (folder / f".{name}").rename(folder / name)


def extracted(world, kind="delta"):
    """The vendors of a run that only reads."""
    run_id = world.app.open_run(kind, f"files/{next(_keys)}")
    return [vendor for shard in world.app.extract(run_id) for vendor in shard["vendors"]]


def held(world, vendor="store-001"):
    """SKU -> quantity in the last rows of a vendor."""
    with world.app.context.engine.connect() as connection:
        found = readings.every(connection)[vendor]
    rows = world.app.context.lake.read_table(found.raw_path).to_pylist()
    assert len(rows) == len({row["sku"] for row in rows})
    return {row["sku"]: int(row["quantity"]) for row in rows}


def states(world):
    """Name -> state of every file."""
    rows = world.rows("SELECT regexp_replace(file, '.*/', '') AS name, state FROM ledger.change_file ORDER BY file")
    return {row.name: row.state for row in rows}


def rest(world):
    """A minute and more goes by for files that wait."""
    with world.app.context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.change_file SET seen_at = seen_at - interval '2 minutes'"))


def read_until_set_aside(world):
    """Two readings, so far apart that a file that is not whole is quarantined by the second."""
    extracted(world)
    rest(world)
    extracted(world)
