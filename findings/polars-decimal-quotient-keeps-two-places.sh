#!/bin/sh
# polars 2.1.0: a quotient and a product of Decimal columns have the places of the finer operand, not more: 1.00 / 3.00 is
# 0.33, and 0.05 * 0.05 is 0.00. What is computed on goes on from the rounded value: the price of 0.33 kg at 2.49, per kg
# and then for 12 kg, is 90.60 where 90.55 is right. pyarrow 26.0.1 gives a quotient of such columns eleven places, a
# product four.
# Guessed before: at least six places in a quotient.
# Seen on Python 3.11.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check polars==2.1.0 pyarrow==26.0.1
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc


def column(text):
    return pl.Series([Decimal(text)], dtype=pl.Decimal(10, 2))


def found(left, sign, right):
    result = column(left) / column(right) if sign == "/" else column(left) * column(right)
    compute = pc.divide if sign == "/" else pc.multiply
    arrow = compute(*(pa.array([Decimal(text)], pa.decimal128(10, 2)) for text in (left, right)))
    return str(result[0]), str(arrow[0].as_py())


print("polars", pl.__version__, "pyarrow", pa.__version__)
for case in (("1.00", "/", "3.00"), ("0.05", "*", "0.05")):
    print(*case, "=", *found(*case))
chained = str((column("2.49") / column("0.33") * column("12.00"))[0])
print("2.49 / 0.33 * 12.00 =", chained, "exactly", round(Decimal("2.49") / Decimal("0.33") * 12, 2))
assert found("1.00", "/", "3.00") == ("0.33", "0.33333333333"), "a quotient has other places now"
assert found("0.05", "*", "0.05") == ("0.00", "0.0025"), "a product has other places now"
assert chained == "90.60"
PROGRAM
# Output:
# polars 2.1.0 pyarrow 26.0.1
# 1.00 / 3.00 = 0.33 0.33333333333
# 0.05 * 0.05 = 0.00 0.0025
# 2.49 / 0.33 * 12.00 = 90.60 exactly 90.55
