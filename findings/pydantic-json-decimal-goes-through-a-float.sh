#!/bin/sh
# pydantic 2.14.4: `validate_json` of a Decimal reads a JSON number as a float first: 12345678901234567.89 becomes
# 12345678901234568, and 1.10 becomes 1.1, without a word and in strict mode too. msgspec 0.22.0 keeps the digits, and so
# does Python's own json with parse_float=Decimal. Who sends amounts as texts is not hurt.
# Guessed before: the digits of the document reach the Decimal.
# Seen on Python 3.11.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pydantic==2.14.4 msgspec==0.22.0
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
import json
from decimal import Decimal

import msgspec
import pydantic

print("pydantic", pydantic.VERSION, "msgspec", msgspec.__version__)
for document, wanted in (("12345678901234567.89", "12345678901234568"), ("1.10", "1.1")):
    for strict in (False, True):
        amount = pydantic.TypeAdapter(Decimal).validate_json(document, strict=strict)
        print(document, "strict" if strict else "lax", amount)
        assert str(amount) == wanted, "the digits of the document are kept now"
    assert str(pydantic.TypeAdapter(Decimal).validate_json(f'"{document}"')) == document
    assert str(msgspec.json.decode(document, type=Decimal)) == document
    assert str(json.loads(document, parse_float=Decimal)) == document
PROGRAM
# Output:
# pydantic 2.14.4 msgspec 0.22.0
# 12345678901234567.89 lax 12345678901234568
# 12345678901234567.89 strict 12345678901234568
# 1.10 lax 1.1
# 1.10 strict 1.1
