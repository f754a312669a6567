#!/bin/sh
# duckdb 2.0.0: `read_csv` with decimal_separator=',' and thousands='.' takes the thousands mark at any place, whatever stands
# between two of them. `4.99`, a price that a person typed with the other mark, becomes 499 beside `1.234,50` = 1234.50, for
# DOUBLE and for DECIMAL, and no row is rejected. It is a hundred times too high.
# Guessed before: groups of three digits are wanted, and the row is refused.
# Seen on Python 3.11.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check duckdb==2.0.0
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
from pathlib import Path

import duckdb

Path("prices.csv").write_text("sku;price\nA;1.234,50\nB;4.99\nC;1.2.3,5\n")


def read(kind):
    return duckdb.sql(
        f"SELECT price FROM read_csv('prices.csv', decimal_separator=',', thousands='.', types={{'price': '{kind}'}})"
    ).fetchall()


print("duckdb", duckdb.__version__)
for kind in ("DOUBLE", "DECIMAL(10,2)"):
    prices = [float(row[0]) for row in read(kind)]
    print(kind, prices)
    assert prices == [1234.5, 499.0, 123.5], "the places of the mark are looked at now"
PROGRAM
# Output:
# duckdb 2.0.0
# DOUBLE [1234.5, 499.0, 123.5]
# DECIMAL(10,2) [1234.5, 499.0, 123.5]
