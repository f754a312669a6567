#!/bin/sh
# pyarrow 26.0.1: the mean of decimals has no more places than they have: 1.00 and 1.01 have the mean 1.01, above the true
# one, so that neither price lies above their mean, in `mean`, in `group_by().aggregate` and in the groupby of pandas 3.1.1.
# The median of pandas over the same column, and the means of polars 2.1.0 and duckdb 2.0.0, are 1.005.
# Guessed before: a mean has more places than its column.
# Seen on Python 3.11.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1 pandas==3.1.1 polars==2.1.0 duckdb==2.0.0
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

prices = pa.table({"sku": ["A", "A"], "price": pa.array([Decimal("1.00"), Decimal("1.01")], pa.decimal128(10, 2))})
frame = prices.to_pandas(types_mapper=pd.ArrowDtype)
found = {
    "pyarrow": pc.mean(prices["price"]).as_py(),
    "pyarrow by group": prices.group_by("sku").aggregate([("price", "mean")])["price_mean"][0].as_py(),
    "pandas by group": frame.groupby("sku")["price"].mean().iloc[0],
    "pandas median": frame["price"].median(),
    "polars": pl.from_arrow(prices)["price"].mean(),
    "duckdb": duckdb.sql("SELECT avg(price) FROM prices").fetchall()[0][0],
}
for name, mean in found.items():
    print(name, mean)
rounded = {name for name, mean in found.items() if str(mean) == "1.01"}
assert rounded == {"pyarrow", "pyarrow by group", "pandas by group"}, "a mean has more places now"
assert {str(mean) for name, mean in found.items() if name not in rounded} == {"1.005"}
PROGRAM
# Output:
# pyarrow 1.01
# pyarrow by group 1.01
# pandas by group 1.01
# pandas median 1.005
# polars 1.005
# duckdb 1.005
