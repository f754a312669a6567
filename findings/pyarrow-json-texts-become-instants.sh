#!/bin/sh
# pyarrow 26.0.1: `json.read_json` takes a column of quoted texts for timestamps if each text reads as a date. A batch name or
# a season code such as "2026-11-28" arrives as an instant at midnight, and the same column is text in the next file, in which
# one value is "A1".
# Guessed before: what JSON quotes is text.
# Seen on Python 3.11.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
import io

import pyarrow as pa
import pyarrow.json


def read(*texts):
    lines = "".join(f'{{"batch": "{text}"}}\n' for text in texts)
    return pyarrow.json.read_json(io.BytesIO(lines.encode()))["batch"]


dates, mixed, digits = read("2026-11-28", "2026-12-01"), read("2026-11-28", "A1"), read("20261128", "20261201")
print("pyarrow", pa.__version__)
print("dates alone:", dates.type, dates.to_pylist())
print("with another text:", mixed.type, mixed.to_pylist())
print("digits alone:", digits.type, digits.to_pylist())
assert dates.type == pa.timestamp("s"), "quoted dates stay texts now"
assert mixed.type == digits.type == pa.string()
PROGRAM
# Output:
# pyarrow 26.0.1
# dates alone: timestamp[s] [datetime.datetime(2026, 11, 28, 0, 0), datetime.datetime(2026, 12, 1, 0, 0)]
# with another text: string ['2026-11-28', 'A1']
# digits alone: string ['20261128', '20261201']
