#!/bin/sh
# duckdb 2.0.0: a half becomes an integer by two rules. 2.5 as DOUBLE, and as a number in JSON, becomes 2 (the even
# neighbour); as DECIMAL, as text, and as a field of a CSV file whose column is declared INTEGER, it becomes 3, and 0.5
# becomes 0 or 1. Nothing is refused, though neither is an integer. So the stock of a shop, half a piece, is none or one by
# the format of the file.
# Guessed before: 3 everywhere, and a file with 0.5 in an INTEGER column is refused.
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

Path("stock.csv").write_text("stock\n0.5\n2.5\n")
Path("stock.json").write_text('[{"stock": 0.5}, {"stock": 2.5}]')
selects = {
    "DOUBLE": "SELECT stock::DOUBLE::INTEGER FROM (VALUES (0.5), (2.5)) AS given(stock)",
    "DECIMAL": "SELECT stock::DECIMAL(3, 1)::INTEGER FROM (VALUES (0.5), (2.5)) AS given(stock)",
    "text": "SELECT stock::VARCHAR::INTEGER FROM (VALUES ('0.5'), ('2.5')) AS given(stock)",
    "CSV": "SELECT * FROM read_csv('stock.csv', types={'stock': 'INTEGER'})",
    "JSON": "SELECT * FROM read_json('stock.json', columns={'stock': 'INTEGER'})",
}
found = {name: [row[0] for row in duckdb.sql(select).fetchall()] for name, select in selects.items()}
print("duckdb", duckdb.__version__, found)
assert found["DOUBLE"] == found["JSON"] == [0, 2], "a DOUBLE is rounded otherwise now"
assert found["DECIMAL"] == found["text"] == found["CSV"] == [1, 3], "a DECIMAL or text is rounded otherwise now"
PROGRAM
# Output:
# duckdb 2.0.0 {'DOUBLE': [0, 2], 'DECIMAL': [1, 3], 'text': [1, 3], 'CSV': [1, 3], 'JSON': [0, 2]}
