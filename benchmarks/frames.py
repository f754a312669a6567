"""What a team writes with pandas: whole tables in frames, an outer merge, dictionaries to json.dumps; and the naive loop over iterrows.

Prices are floats here, as they are in most such programs; decimals would be slower still.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.chain import Chain

FIELDS = ("price", "quantity", "active", "max_sales_quantity")
NAMES = {"max_sales_quantity": "maximum_sales_quantity"}
WIRE = ["sku", "price", "quantity", "active", "maximum_sales_quantity"]


def read(chain: Chain, kind: str) -> pd.DataFrame:
    """One table of the whole chain."""
    whole = chain.whole(kind)
    price = whole["price"].cast(pa.float64())
    return whole.set_column(whole.column_names.index("price"), "price", price).to_pandas()


def changes(now: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
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


def bodies(found: pd.DataFrame) -> Iterator[tuple[str, bytes]]:
    """One body a vendor: rows to dictionaries, dictionaries to text."""
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


def naive(now: pd.DataFrame, before: pd.DataFrame) -> bytes:
    """One vendor, row by row: iterrows, a dictionary of the old rows, an if for each field."""
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
