#!/bin/sh
# python-calamine 0.9.1: a cell with an error (#N/A) and a formula that no program has calculated come back as the empty
# text, as an empty cell does. A program that takes the empty text for "no value" loses the difference between "the ERP
# says nothing" and "the ERP's formula is broken".
# Seen on Python 3.11 with openpyxl 3.1.5 as the writer; the workbook is valid and opens in spreadsheet programs.
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
sheet = book.active
sheet.append(["sku", "price"])
sheet.append(["an error", "#N/A"])
sheet.append(["a formula without its value", "=1+1"])
sheet.append(["an empty cell", None])
sheet["C4"] = "the row ends here"
book.save("stock.xlsx")
assert sheet["B2"].data_type == "e"

rows = python_calamine.CalamineWorkbook.from_path("stock.xlsx").get_sheet_by_index(0).to_python()
print("python-calamine", version("python-calamine"))
for row in rows[1:]:
    print(row[:2])
assert [row[1] for row in rows[1:]] == ["", "", ""], "an error, an uncalculated formula and an empty cell differ now"
PROGRAM
# Output:
# python-calamine 0.9.1
# ['an error', '']
# ['a formula without its value', '']
# ['an empty cell', '']
