#!/bin/sh
# babel 2.18.0: format_currency writes a price in Serbian dinar (RSD) without its decimals and rounds it: 129.99 becomes 130. ISO 4217
# gives the dinar two decimals; babel takes the number of digits from CLDR, which has none for it. Lebanese pound (LBP, two decimals
# in ISO 4217) is the same. A page that shows shelf prices by it shows a price that no till asks for. `currency_digits=False` with a
# pattern keeps the decimals.
# Seen on Python 3.11.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check Babel==2.18.0
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
from decimal import Decimal
from importlib.metadata import version

from babel.numbers import format_currency, get_currency_precision

print("babel", version("Babel"))
price = Decimal("129.99")
for code in ("EUR", "RSD", "LBP"):
    print(code, get_currency_precision(code), format_currency(price, code, locale="en").replace("\xa0", " "))
kept = format_currency(price, "RSD", "#,##0.00 ¤", locale="en", currency_digits=False).replace("\xa0", " ")
print("with currency_digits=False:", kept)
assert get_currency_precision("RSD") == get_currency_precision("LBP") == 0
assert "130" in format_currency(price, "RSD", locale="en")
assert "129.99" in kept
PROGRAM
# Output:
# babel 2.18.0
# EUR 2 €129.99
# RSD 0 RSD130
# LBP 0 LBP130
# with currency_digits=False: 129.99 RSD
