#!/bin/sh
# pyarrow 26.0.1: a sum of decimals that its type does not hold is not refused, where an addition of the same values is.
# Beyond 2**127 units of the last place it turns round: two shares of 0.9 in decimal128(38, 38), and two values of 9.0 in
# decimal128(38, 37), have a negative sum, in `sum` and in `group_by().aggregate`. polars 2.1.0 raises for the same sum.
# Guessed before: an error.
# Seen on Python 3.11.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1 polars==2.1.0
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

print("pyarrow", pa.__version__, "polars", pl.__version__)
for text, places in (("0.9", 38), ("9.0", 37)):
    shares = pa.array([Decimal(text)] * 2, pa.decimal128(38, places))
    total = pc.sum(shares)
    grouped = pa.table({"store": ["A"] * 2, "share": shares}).group_by("store").aggregate([("share", "sum")])
    print(f"2 x {text}", total.type, f"{total.as_py():.4f}", f"{grouped['share_sum'][0].as_py():.4f}")
    assert total.as_py() < 0, "the sum no longer turns round"
    assert grouped["share_sum"][0].as_py() == total.as_py()
try:
    pc.add(shares, shares)
except pa.ArrowInvalid as error:
    print("addition:", error)
else:
    raise AssertionError("an addition takes such values too, now")
try:
    pl.from_arrow(shares).sum()
except pl.exceptions.ComputeError as error:
    print("polars:", error)
else:
    raise AssertionError("polars no longer raises")
PROGRAM
# Output:
# pyarrow 26.0.1 polars 2.1.0
# 2 x 0.9 decimal128(38, 38) -1.6028 -1.6028
# 2 x 9.0 decimal128(38, 37) -16.0282 -16.0282
# addition: Decimal precision out of range [1, 38]: 39
# polars: overflow in decimal addition in sum
