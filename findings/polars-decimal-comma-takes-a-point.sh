#!/bin/sh
# polars 2.1.0: with decimal_comma=True, `read_csv` takes a point for a decimal mark as well where the column is Float64. So
# `1.299`, which means one thousand two hundred and ninety-nine in such a file, becomes 1.299 beside `4,99` = 4.99, without a
# word. Where the column is Decimal, the same text is refused. Without a schema the column is text.
# Guessed before: the setting replaces the mark, so that a point raises in both types.
# Seen on Python 3.11.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check polars==2.1.0
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
import polars as pl

text = b"sku;price\nA;1.299\nB;4,99\n"


def read(kind):
    return pl.read_csv(text, separator=";", decimal_comma=True, schema_overrides={"price": kind} if kind else None)


print("polars", pl.__version__)
print("no schema:", read(None)["price"].to_list())
print("Float64:", read(pl.Float64)["price"].to_list())
try:
    print("Decimal:", read(pl.Decimal(10, 3))["price"].to_list())
except pl.exceptions.ComputeError as error:
    print("Decimal:", str(error).splitlines()[0])
else:
    raise AssertionError("Decimal takes a point too, now")
assert read(None)["price"].to_list() == ["1.299", "4,99"]
assert read(pl.Float64)["price"].to_list() == [1.299, 4.99], "Float64 no longer takes a point"
PROGRAM
# Output:
# polars 2.1.0
# no schema: ['1.299', '4,99']
# Float64: [1.299, 4.99]
# Decimal: could not parse `1.299` as dtype `decimal[10,3]` at column 'price' (column number 2)
