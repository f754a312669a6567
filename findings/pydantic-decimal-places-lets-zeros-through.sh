#!/bin/sh
# pydantic 2.14.4: decimal_places=2 does not say that the value has two places: zeros at its end are not counted, and they
# are kept. 1.1000 passes and goes on as `1.1000`; 0E-10, which is how pyarrow writes a stock of zero in decimal128(20, 10),
# passes and goes on as `0E-10`. A receiver that takes two places and no exponent refuses what this model took for valid.
# Guessed before: four places are refused.
# Seen on Python 3.11.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pydantic==2.14.4
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
from decimal import Decimal
from typing import Annotated

import pydantic

amount = pydantic.TypeAdapter(Annotated[Decimal, pydantic.Field(max_digits=5, decimal_places=2)])
print("pydantic", pydantic.VERSION)
for text in ("1.1000", "0E-10"):
    found = amount.dump_json(amount.validate_python(text)).decode()
    print(text, "->", found)
    assert found == f'"{text}"', "zeros at the end are refused or cut now"
try:
    amount.validate_python("1.1001")
except pydantic.ValidationError as error:
    print("1.1001 ->", error.errors()[0]["msg"])
else:
    raise AssertionError("four places pass now")
PROGRAM
# Output:
# pydantic 2.14.4
# 1.1000 -> "1.1000"
# 0E-10 -> "0E-10"
# 1.1001 -> Decimal input should have no more than 2 decimal places
