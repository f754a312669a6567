#!/bin/sh
# pyarrow 26.0.1: a decimal whose first digit that is not zero stands at the seventh place or later becomes text with an
# exponent, and so does zero itself: a stock of zero in decimal128(20, 10), which is how ERPs keep quantities, is `0E-10`, in
# `cast(pa.string())` and in `pyarrow.csv.write_csv`. polars 2.1.0 and duckdb 2.0.0 write `0.0000000000` for the same array.
# A reader of the file that takes digits, a point and a sign alone meets this only on the day on which something is sold out.
# Guessed before: as many zeros as the type has places.
# Seen on Python 3.11.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.0
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
import io
from decimal import Decimal

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.csv

stock = pa.table({"stock": pa.array([Decimal("12.5"), Decimal(0), Decimal("0.0000005")], pa.decimal128(20, 10))})
file = io.BytesIO()
pyarrow.csv.write_csv(stock, file)
arrow = file.getvalue().decode().split()[1:]
other = pl.from_arrow(stock).write_csv().split()[1:]
third = [row[0] for row in duckdb.sql("SELECT stock::VARCHAR FROM stock").fetchall()]
print("pyarrow", pa.__version__, arrow)
print("polars", pl.__version__, other)
print("duckdb", duckdb.__version__, third)
assert stock["stock"].cast(pa.string()).to_pylist() == arrow
assert arrow[0] == "12.5000000000"
assert arrow[1] == "0E-10", "zero is written without an exponent now"
assert arrow[2] == "5.000E-7"
assert other == third == ["12.5000000000", "0.0000000000", "0.0000005000"]
PROGRAM
# Output:
# pyarrow 26.0.1 ['12.5000000000', '0E-10', '5.000E-7']
# polars 2.1.0 ['12.5000000000', '0.0000000000', '0.0000005000']
# duckdb 2.0.0 ['12.5000000000', '0.0000000000', '0.0000005000']
