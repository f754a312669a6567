#!/bin/sh
# polars 2.1.0 and duckdb 2.0.0: `read_csv` with a column declared as DECIMAL(10, 2) takes a price of three places and
# rounds it without a word, each by its own rule: 4.985 is 4.98 in polars (the even neighbour) and 4.99 in duckdb (away from
# zero). Two reports of one file differ by a cent. pyarrow 26.0.1 refuses the file.
# Guessed before: all three refuse it.
# Seen on Python 3.11.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check polars==2.1.0 duckdb==2.0.0 pyarrow==26.0.1
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.csv

Path("prices.csv").write_text("price\n4.985\n4.999\n")
first = [str(price) for price in pl.read_csv("prices.csv", schema_overrides={"price": pl.Decimal(10, 2)})["price"]]
rows = duckdb.sql("SELECT * FROM read_csv('prices.csv', types={'price': 'DECIMAL(10, 2)'})").fetchall()
second = [str(row[0]) for row in rows]
print("polars", pl.__version__, first)
print("duckdb", duckdb.__version__, second)
try:
    options = pyarrow.csv.ConvertOptions(column_types={"price": pa.decimal128(10, 2)})
    print("pyarrow", pa.__version__, pyarrow.csv.read_csv("prices.csv", convert_options=options)["price"].to_pylist())
except pa.ArrowInvalid as error:
    print("pyarrow", pa.__version__, error)
else:
    raise AssertionError("pyarrow takes three places too, now")
assert first == ["4.98", "5.00"], "polars reads other prices now"
assert second == ["4.99", "5.00"], "duckdb reads other prices now"
PROGRAM
# Output:
# polars 2.1.0 ['4.98', '5.00']
# duckdb 2.0.0 ['4.99', '5.00']
# pyarrow 26.0.1 In CSV column #0: Rescaling Decimal value would cause data loss
