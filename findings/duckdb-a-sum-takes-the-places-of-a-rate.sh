#!/bin/sh
# duckdb 2.0.0: `sum` of a DECIMAL(10, 2) is a DECIMAL(38, 2). Where it meets a DECIMAL(10, 6) in UNION ALL, coalesce, CASE,
# greatest or a list, the common type is DECIMAL(38, 2), whichever stands first: the places of the finer side are rounded
# away without a word. A price per gram of 0.126456 becomes 0.13 beside the total, and 0.004 becomes zero. Beside the plain
# prices, DECIMAL(10, 2), the common type has six places. An addition of the two has six as well.
# Guessed before: six places, or an error that 38 digits do not hold both.
# Seen on Python 3.11.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check duckdb==2.0.0
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
import duckdb

columns = "1.00::DECIMAL(10, 2) AS price, 0.126456::DECIMAL(10, 6) AS rate, 0.004::DECIMAL(10, 6) AS small"
duckdb.sql(f"CREATE TABLE prices AS SELECT {columns}")
print("duckdb", duckdb.__version__)
found = {}
for coarse in ("max(price)", "sum(price)"):
    expressions = {
        "union": f"min(value) FROM (SELECT rate AS value FROM prices UNION ALL SELECT {coarse} FROM prices)",
        "coalesce": f"coalesce(max(rate), {coarse}) FROM prices",
        "case": f"CASE WHEN {coarse} > 0 THEN max(rate) ELSE {coarse} END FROM prices",
        "greatest": f"greatest(max(rate), {coarse} - {coarse}) FROM prices",
        "list": f"[max(rate), {coarse}][1] FROM prices",
        "small": f"coalesce(max(small), {coarse}) FROM prices",
        "addition": f"max(rate) + {coarse} FROM prices",
    }
    found[coarse] = {name: str(duckdb.sql("SELECT " + rest).fetchall()[0][0]) for name, rest in expressions.items()}
    print(coarse, found[coarse])
for each in found.values():
    assert each.pop("addition") == "1.126456"
assert found["max(price)"].pop("small") == "0.004000"
assert found["sum(price)"].pop("small") == "0.00", "the places of the finer side are kept now"
assert set(found["max(price)"].values()) == {"0.126456"}
assert set(found["sum(price)"].values()) == {"0.13"}, "the places of the finer side are kept now"
PROGRAM
# Output:
# duckdb 2.0.0
# max(price) {'union': '0.126456', 'coalesce': '0.126456', 'case': '0.126456', 'greatest': '0.126456', 'list': '0.126456', 'small': '0.004000', 'addition': '1.126456'}
# sum(price) {'union': '0.13', 'coalesce': '0.13', 'case': '0.13', 'greatest': '0.13', 'list': '0.13', 'small': '0.00', 'addition': '1.126456'}
