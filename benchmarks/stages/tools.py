"""The same question put to tools that people reach for: a full join in PostgreSQL, dlt's merge into DuckDB. On 100,000 rows.

And what a team writes with pandas, for other stages: whole tables in frames, an outer merge, dictionaries to json.dumps; the naive loop over iterrows.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from benchmarks.server import cpu_of, database
from benchmarks.slow import DIFFERS, FIELDS
from benchmarks.stage import Stage, Way, peers_on_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from benchmarks.chain import Chain
    from benchmarks.stage import Answer, Meter

VENDORS = 2
COLUMNS = ["sku", *FIELDS]
NAMES = {"max_sales_quantity": "maximum_sales_quantity"}
WIRE = ["sku", "price", "quantity", "active", "maximum_sales_quantity"]


def ours(chain: Chain, meter: Meter) -> Answer:
    """Both files to the changes, as in the stage `diff`; once before it counts, as the others have loaded their tables by then."""
    from shelfsync.catalog.delta import compute_delta

    for _, snapshot, baseline in chain.tables():
        compute_delta(snapshot, baseline, full=False)
    changes = 0
    with meter:
        for _, snapshot, baseline in chain.tables():
            changes += compute_delta(snapshot, baseline, full=False).num_rows
    return {"rows": chain.rows, "changes": changes}


def postgres(chain: Chain, meter: Meter) -> Answer:
    """Both tables loaded and analysed before; the join alone is measured, in one process of the server."""
    from shelfsync.store.bulk import copy_into

    query = (
        "SELECT vendor, sku, n.price, n.quantity, n.active, n.max_sales_quantity FROM n FULL JOIN b USING (vendor, sku)"
        f" WHERE CASE WHEN n.here IS NULL THEN coalesce(b.active, true) ELSE {DIFFERS} END"
    )
    with database(chain.folder) as engine, engine.connect() as connection:
        types = "vendor text, sku text, price numeric(20, 3), quantity bigint, active boolean, max_sales_quantity bigint, here boolean DEFAULT true"
        for name, kind in (("n", "snapshot"), ("b", "baseline")):
            connection.exec_driver_sql(f"CREATE TABLE {name} ({types}, PRIMARY KEY (vendor, sku))")
            copy_into(connection, name, chain.whole(kind, COLUMNS).select(["vendor", *COLUMNS]))
        connection.commit()
        connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql("VACUUM ANALYZE n, b")
        # one process, so that its CPU is all of it
        connection.exec_driver_sql("SET max_parallel_workers_per_gather = 0")
        meter.others = cpu_of(connection)
        with meter:
            changes = len(connection.exec_driver_sql(query).all())
    return {"rows": chain.rows, "changes": changes}


def dlt(chain: Chain, meter: Meter) -> Answer:
    """The baseline is in DuckDB; the snapshot is merged by key. It ends with an equal table and does not list the changes."""
    peers_on_path()
    folder = Path(mkdtemp(dir=chain.folder))
    os.environ |= {"DLT_DATA_DIR": str(folder), "RUNTIME__DLTHUB_TELEMETRY": "false", "RUNTIME__LOG_LEVEL": "ERROR"}
    try:
        import dlt as tool

        target = tool.destinations.duckdb(str(folder / "target.duckdb"))
        pipeline = tool.pipeline("bench", destination=target, dataset_name="shelf", pipelines_dir=str(folder))
        hints = {"table_name": "item", "write_disposition": "merge", "primary_key": ["vendor", "sku"]}
        pipeline.run(chain.whole("baseline", COLUMNS), **hints)
        now = chain.whole("snapshot", COLUMNS)
        with meter:
            pipeline.run(now, **hints)
        with pipeline.sql_client() as client:
            ((rows,),) = client.execute_sql("SELECT count(*) FROM item")
        # both name the same number of SKUs, and each has some that the other has not: the table holds the union
        assert rows == now.num_rows + _only_before(chain), rows
    finally:
        shutil.rmtree(folder)
    return {"rows": chain.rows}


def _only_before(chain: Chain) -> int:
    return sum(len(set(old["sku"].to_pylist()) - set(new["sku"].to_pylist())) for _, new, old in chain.tables())


_way = functools.partial(Way, vendors_max=VENDORS)

STAGE = Stage(
    name="tools",
    title="what changed in 100,000 rows, by tools that people reach for",
    ways=(
        _way("ours", "ours", "shelfsync: both files to what changed", ours),
        _way("postgres", "peer", "full join in PostgreSQL, tables loaded before", postgres, rounds_max=1),
        _way("dlt", "peer", "dlt, merge into DuckDB, baseline loaded before", dlt, rounds_max=1),
    ),
    same={"changes": "the numbers of changes"},
)


def pandas_table(chain: Chain, kind: str) -> pd.DataFrame:
    """One table of the whole chain in a frame; prices are floats, as in most such programs."""
    whole = chain.whole(kind)
    price = whole["price"].cast(pa.float64())
    return whole.set_column(whole.column_names.index("price"), "price", price).to_pandas()


def pandas_changes(now: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """The rows of an outer merge that must be sent; `change` is the kind of the change."""
    both = now.merge(before, how="outer", on=["vendor", "sku"], suffixes=("", "_before"), indicator=True)
    differs = np.zeros(len(both), dtype=bool)
    for name in FIELDS:
        one, other = both[name], both[f"{name}_before"]
        news = (one.notna() & (other.isna() | (one != other))).to_numpy(dtype=bool)
        both[f"{name}_news"] = news
        differs |= news
    gone = (both["_merge"] == "right_only").to_numpy() & (both["active_before"] != False).to_numpy(dtype=bool)  # noqa: E712
    new = (both["_merge"] == "left_only").to_numpy()
    both["change"] = np.select([gone, new, differs], ["removed", "new", "changed"], default="")
    return both[both["change"] != ""]


def pandas_bodies(found: pd.DataFrame) -> Iterator[tuple[str, bytes]]:
    """One body a vendor: rows to dictionaries, dictionaries to text."""
    import pandas as pd

    sent = {name: found[name].astype(object).where(found[f"{name}_news"], None) for name in FIELDS}
    on = sent["active"] == True  # noqa: E712
    quantity = found["quantity"].astype(object).where(found["quantity"].notna(), found["quantity_before"])
    sent["quantity"] = sent["quantity"].where(~on, quantity)
    flag = found["active"].where(sent["active"].isna(), sent["active"])
    off = sent["quantity"].notna() & (flag == False)  # noqa: E712
    sent["active"] = sent["active"].where(~off, False).where(found["change"] != "removed", False)
    frame = pd.DataFrame({"vendor": found["vendor"], "sku": found["sku"], **{NAMES.get(n, n): sent[n] for n in FIELDS}})
    for vendor, rows in frame.groupby("vendor", sort=True):
        items = [_item(row) for row in rows.sort_values("sku")[WIRE].to_dict("records")]
        yield str(vendor), json.dumps({"products": items}).encode()


def _item(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _wire(name, value) for name, value in row.items() if value is not None and value == value}  # noqa: PLR0124


def _wire(name: str, value: Any) -> Any:
    if name in {"quantity", "maximum_sales_quantity"}:
        return int(value)
    if name == "active":
        return bool(value)
    return round(value, 3) if name == "price" else value  # the float of 5.35 is not quite that


def pandas_by_row(now: pd.DataFrame, before: pd.DataFrame) -> bytes:
    """One vendor, row by row: iterrows, a dictionary of the old rows, an if for each field."""
    import pandas as pd

    old = {row["sku"]: row for _, row in before.iterrows()}
    items = []
    for _, row in now.iterrows():
        known = old.pop(row["sku"], None)
        item = {"sku": row["sku"]}
        for name in FIELDS:
            if pd.notna(row[name]) and (known is None or pd.isna(known[name]) or row[name] != known[name]):
                item[NAMES.get(name, name)] = _wire(NAMES.get(name, name), row[name])
        if len(item) == 1:
            continue
        count = row["quantity"] if pd.notna(row["quantity"]) else (known["quantity"] if known is not None else None)
        if item.get("active") is True and pd.notna(count):
            item["quantity"] = int(count)
        elif "quantity" in item and not row["active"]:
            item["active"] = False
        items.append(item)
    items += [{"sku": sku, "active": False} for sku, row in old.items() if row["active"] is not False]
    items.sort(key=lambda item: item["sku"])
    return json.dumps({"products": items}).encode()
