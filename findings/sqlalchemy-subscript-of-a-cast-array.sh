#!/bin/sh
# SQLAlchemy 2.1.9 (psycopg): a subscript of a bound array, or of a cast to an array, is rendered without brackets around the array.
# `$1::DOUBLE PRECISION[][failures + 1]` goes on with the name of the type, and `CAST(…)[…]` is no expression: PostgreSQL's parser refuses
# both. The array of the dialect, array([…])[…], is rendered so that it parses. Who looks a value up in a short list of constants,
# such as the waits after failures, meets this.
# Seen on Python 3.11. The statement is only compiled, and parsed by PostgreSQL's own parser (pglast).
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check sqlalchemy==2.1.9 pglast==8.8
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
import re

import sqlalchemy as sa
from pglast import parse_sql
from pglast.parser import ParseError
from sqlalchemy.dialects.postgresql import ARRAY, array, psycopg

print("sqlalchemy", sa.__version__)
failures = sa.column("failures", sa.Integer)
waits = [60.0, 120.0, 240.0]
ways = {
    "literal": sa.literal(waits, ARRAY(sa.Double)),
    "cast": sa.cast(waits, ARRAY(sa.Double)),
    "array": array(waits),
}
parsed = {}
for name, found in ways.items():
    text = " ".join(str(sa.select(found[failures + 1]).compile(dialect=psycopg.dialect())).split())
    try:
        parse_sql(re.sub(r"%\(\w+\)s", "$1", text))
        parsed[name] = "parsed"
    except ParseError as error:
        parsed[name] = error.args[0]
    print(f"{name}: {text}: {parsed[name]}")
assert parsed["literal"].startswith("syntax error")
assert parsed["cast"].startswith("syntax error")
assert parsed["array"] == "parsed"
PROGRAM
# Output:
# sqlalchemy 2.1.9
# literal: SELECT %(param_1)s::DOUBLE PRECISION[][(failures + %(failures_1)s::INTEGER)] AS anon_1: syntax error at or near "("
# cast: SELECT CAST(%(param_1)s::DOUBLE PRECISION[] AS DOUBLE PRECISION[])[(failures + %(failures_1)s::INTEGER)] AS anon_1: syntax error at or near "["
# array: SELECT (ARRAY[%(param_1)s, %(param_2)s, %(param_3)s])[(failures + %(failures_1)s::INTEGER)] AS anon_1: parsed
