"""Columns that shelfsync reads, and that are probably other ones than the settings say: swapped, in another encoding, with another mark.

`check` reports them, because each value by itself is valid.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from shelfsync.rows.check_digit import is_gtin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from shelfsync.settings import ErpSettings

_ROWS_MIN = 2
_STORES_MIN = 3
_CODE_DIGITS_MIN = 12
_WHOLE_PRICES_MIN = 20
_DISTINCT_MIN = 3
"""Of fewer prices, each may be whole by chance."""
_DIVIDE = "let the ERP write the point, or divide by a hook (docs/how-to/connecting-your-erp.md#by-a-hook)"
_TEXTS = ("vendor", "sku", "name", "category")
_GROUP = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_CODE = re.compile(r"[0-9]+")
_COLUMNS = "SHELFSYNC_ERP__COLUMNS"


def lines(rows: pa.Table, settings: ErpSettings, *, digits: int) -> list[str]:
    """Sentences without a full stop about the first rows (RAW schema). `digits`: decimals of the currency."""
    came = {name: pc.drop_null(rows[name]).to_pylist() for name in (*_TEXTS, "barcode", "price", "quantity")}
    found = [*_swapped(rows, came)]
    if settings.files:
        found += [*_other_encoding(came, settings.csv_encoding)]
        if not settings.thousands_mark and digits < 3:
            found += [*_thousands(came)]
        if digits:
            found += [*_cents(came, digits)]
    return found


def _swapped(rows: pa.Table, came: dict[str, list[str]]) -> Iterator[str]:
    stores, skus = set(came["vendor"]), set(came["sku"])
    if _STORES_MIN <= rows.num_rows == len(stores) and len(skus) * 2 <= len(stores):
        yield (
            f"vendor has another value in each row, and sku has {len(skus)} in all ({came['sku'][0]!r}): they may be swapped. Correct {_COLUMNS}"
        )
    prices, quantities = came["price"], came["quantity"]
    if len(prices) >= _ROWS_MIN and not any("." in one for one in prices) and _mostly_with_point(quantities):
        yield (
            f"every price is whole ({prices[0]!r}), and most quantities have decimals ({quantities[0]!r}): they may be swapped. Correct {_COLUMNS}"
        )
    codes, barcodes = came["sku"], came["barcode"]
    if len(codes) >= _ROWS_MIN and all(map(_is_barcode, codes)) and barcodes and not any(map(_is_barcode, barcodes)):
        yield f"every sku is a barcode ({codes[0]!r}), and no barcode is ({barcodes[0]!r}): they may be swapped. Correct {_COLUMNS}"


def _mostly_with_point(numbers: Sequence[str]) -> bool:
    return 2 * sum("." in one for one in numbers) > len(numbers)


def _is_barcode(code: str) -> bool:
    return len(code) >= _CODE_DIGITS_MIN and is_gtin(code)


def _other_encoding(came: dict[str, list[str]], encoding: str) -> Iterator[str]:
    """Texts that are UTF-8 read as an encoding of one byte a character: `KÃ¤se` is `Käse`."""
    for name in _TEXTS:
        for text in came[name]:
            if text.isascii():
                continue
            try:
                right = text.encode(encoding).decode("utf-8-sig")
            except (UnicodeError, LookupError):
                continue
            if right != text:
                yield (
                    f"{name} {text[:40]!r} is probably {right[:40]!r}, UTF-8 that is read as {encoding}. Set SHELFSYNC_ERP__CSV_ENCODING to utf-8-sig"
                )
                break


def are_whole(prices: Sequence[str]) -> bool:
    """Whether so many different prices are whole that they may be in the smallest coin of the currency."""
    return (
        len(prices) >= _WHOLE_PRICES_MIN
        and len(set(prices)) >= _DISTINCT_MIN
        and all(map(_CODE.fullmatch, prices))
        and any(set(price[-2:]) != {"0"} for price in prices)
    )


def _cents(came: dict[str, list[str]], digits: int) -> Iterator[str]:
    """Prices without a point, padded with zeros or many: `00150` is 1.50 in many old lists."""
    prices = came["price"]
    padded = [price for price in prices if price.startswith("0") and len(price) > digits]
    if len(prices) >= _ROWS_MIN and padded and all(map(_CODE.fullmatch, prices)) and len(set(map(len, prices))) == 1:
        yield (
            f"every price is of {len(prices[0])} digits without a point, such as {padded[0]!r}, which shelfsync reads as whole: if the last {digits}"
            f" are decimals, {_DIVIDE}"
        )
    elif are_whole(prices):
        yield (
            f"every price is whole, up to {max(prices, key=int)!r}: if the ERP counts in its smallest coin, shelfsync sends {10**digits} times too much."
            f" Then {_DIVIDE}"
        )


def _thousands(came: dict[str, list[str]]) -> Iterator[str]:
    """Prices that all look grouped: `1.299` may be one thousand two hundred and ninety-nine."""
    marked = [price for price in came["price"] if "." in price]
    if marked and all(map(_GROUP.fullmatch, marked)):
        yield (
            f"every price with a point has three digits behind it, such as {marked[0]!r}: if the point groups thousands, set"
            " SHELFSYNC_ERP__THOUSANDS_MARK=. and SHELFSYNC_ERP__DECIMAL_MARK=, (what the file writes)"
        )
