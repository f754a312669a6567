#!/bin/sh
# fastexcel 0.21.0: the type of a column comes from its first 1,000 rows. A product code with a letter that stands behind them
# in a column of numbers becomes null, without a word, with dtype_coercion="coerce" (as polars reads workbooks) and with
# "strict" too: "strict" judges the sample alone. schema_sample_rows=None reads all rows first and gives texts.
# Guessed before: the column becomes text, or "strict" raises.
# Seen on Python 3.11 with xlsxwriter 3.3.1 as the writer.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check fastexcel==0.21.0 polars==2.1.0 xlsxwriter==3.3.1
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
from importlib.metadata import version

import fastexcel
import polars as pl
import xlsxwriter

book = xlsxwriter.Workbook("stock.xlsx")
sheet = book.add_worksheet()
sheet.write_row(0, 0, ["sku", "stock"])
for row in range(1, 1201):
    sheet.write_row(row, 0, [100000 + row if row <= 1100 else f"A{row}", 5])
book.close()


def read(**words):
    return fastexcel.read_excel("stock.xlsx").load_sheet(0, **words).to_polars()["sku"]


coerced, strict, whole = read(), read(dtype_coercion="strict"), read(schema_sample_rows=None)
polars = pl.read_excel("stock.xlsx")["sku"]
print("fastexcel", version("fastexcel"), "polars", pl.__version__)
for name, found in {"coerce": coerced, "strict": strict, "whole": whole, "polars": polars}.items():
    print(f"{name}: {found.dtype}, {found.null_count()} of {len(found)} null, last {found[-1]}")
assert coerced.null_count() == polars.null_count() == 100
assert strict.null_count() == 100, "strict raises or keeps the codes now"
assert whole.null_count() == 0 and whole[-1] == "A1200"
PROGRAM
# Output:
# fastexcel 0.21.0 polars 2.1.0
# coerce: Float64, 100 of 1200 null, last None
# strict: Float64, 100 of 1200 null, last None
# whole: String, 0 of 1200 null, last A1200
# polars: Int64, 100 of 1200 null, last None
