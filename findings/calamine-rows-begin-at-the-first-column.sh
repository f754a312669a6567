#!/bin/sh
# python-calamine 0.9.1: of a table that begins at C4, `iter_rows` gives the empty rows above it and leaves out the empty
# columns left of it; `to_python` leaves out both, unless skip_empty_area=False, which gives both. So the place of a cell
# in a row of `iter_rows` is not its column in the sheet: one has to add `start`, for columns and not for rows.
# Seen on Python 3.11 with openpyxl 3.1.5 as the writer.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check python-calamine==0.9.1 openpyxl==3.1.5
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
from importlib.metadata import version

import openpyxl
import python_calamine

book = openpyxl.Workbook()
book.active["C4"], book.active["D4"], book.active["C5"], book.active["D5"] = "sku", "price", "a", 1.5
book.save("stock.xlsx")

sheet = python_calamine.CalamineWorkbook.from_path("stock.xlsx").get_sheet_by_index(0)
rows, table, whole = list(sheet.iter_rows()), sheet.to_python(), sheet.to_python(skip_empty_area=False)
print("python-calamine", version("python-calamine"), "start", sheet.start)
print("iter_rows", rows)
print("to_python", table)
print("to_python, skip_empty_area=False", whole[-1], len(whole))
assert sheet.start == (3, 2)
assert len(rows) == 5 and len(rows[-1]) == 2, "iter_rows has rows of the sheet and columns of the table no more"
assert len(table) == 2 and len(table[-1]) == 2
assert len(whole) == 5 and len(whole[-1]) == 4
PROGRAM
# Output:
# python-calamine 0.9.1 start (3, 2)
# iter_rows [['', ''], ['', ''], ['', ''], ['sku', 'price'], ['a', 1.5]]
# to_python [['sku', 'price'], ['a', 1.5]]
# to_python, skip_empty_area=False ['', '', 'a', 1.5] 5
