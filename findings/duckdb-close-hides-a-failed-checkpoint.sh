#!/bin/sh
# duckdb 2.0.0: if no room is left for the checkpoint, close() returns without an error. Everything that was written is in the
# .wal file alone; the database file itself has no table. Who then hands on, copies or renames the database file, as one does
# with a report for colleagues, hands on an empty database. An explicit CHECKPOINT before close() raises.
# The room is limited here by the size that the process may give a file; a full disk does the same.
# Seen on Python 3.11.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check duckdb==2.0.0
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
import resource
import shutil
from pathlib import Path

import duckdb


def room(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def written(name):
    connection = duckdb.connect(name)
    for number in range(30):
        connection.execute(f"CREATE TABLE t{number} (a INTEGER)")
    room(100_000)
    return connection


print("duckdb", duckdb.__version__)
print("close() returned", written("stock.duckdb").close())
room(resource.RLIM_INFINITY)
Path("alone").mkdir()
shutil.copy("stock.duckdb", "alone/stock.duckdb")
tables = duckdb.connect("alone/stock.duckdb").execute("SHOW TABLES").fetchall()
print("tables in the database file:", len(tables))

connection = written("other.duckdb")
try:
    connection.execute("CHECKPOINT")
except duckdb.Error as error:
    print("CHECKPOINT raised", type(error).__name__)
else:
    raise AssertionError("CHECKPOINT raises no longer")
finally:
    room(resource.RLIM_INFINITY)
assert tables == [], "close() keeps what was written, or raises, now"
PROGRAM
# Output:
# duckdb 2.0.0
# close() returned None
# tables in the database file: 0
# CHECKPOINT raised FatalException
