"""One product update item: what makes the whole request invalid, and what only this item (interface.md 2.1).

The platform rejects the whole request for: wrong types, no key, a barcode with a non-digit or more than 14 digits, a quantity or a sales
limit that is no whole number. Null counts as absent.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from partner_sandbox.behaviour import Behaviour
from partner_sandbox.catalog import money
from partner_sandbox.catalog.body import BodyError

SALES_LIMIT_NAMES = ("maximum_sales_quantity", "max_sales_quantity")
BARCODE_DIGITS_MAX = 14
WHOLE_MAX = 2**31 - 1


@dataclass(frozen=True)
class ItemReader:
    """Reads items by the platform's choices."""

    limit_names: tuple[str, ...]
    rejected_names: tuple[str, ...]

    def read(self, number: int, item: Any) -> tuple[Any, ...]:
        """A row of jobs.tables.job_item after the job: number, sku, barcode, quantity, price, active, limit, error."""
        where = f"products[{number}]"
        if type(item) is not dict:
            raise BodyError(where, "must be an object")
        sku = _text(item.get("sku"), where, "sku")
        barcode = _barcode(item.get("barcode"), where)
        if sku is None and barcode is None:
            raise BodyError(where, "sku or barcode is required")
        active = item.get("active")
        if active is not None and type(active) is not bool:
            raise BodyError(f"{where}.active", f"must be true or false, not {_shown(active)}")
        quantity = _whole(item.get("quantity"), f"{where}.quantity")
        limit = self._limit(item, where)
        price, error = _price(item.get("price"), where)
        if error is None and limit is not None and not 1 <= limit <= WHOLE_MAX:
            error = "max_sales_quantity must be at least 1" if limit < 1 else "max_sales_quantity is too large"
        return (number, sku, barcode, _clamped(quantity), price, active, _clamped(limit), error)

    def _limit(self, item: dict[str, Any], where: str) -> int | None:
        for name in self.rejected_names:
            if name in item:
                raise BodyError(f"{where}.{name}", "is not a known field")
        for name in self.limit_names:
            value = _whole(item.get(name), f"{where}.{name}")
            if value is not None:
                return value
        return None


def reader_of(behaviour: Behaviour) -> ItemReader:
    """The reader for a dialect."""
    both = behaviour.sales_limit_name == "both"
    known = SALES_LIMIT_NAMES if both else (behaviour.sales_limit_name,)
    rejected_names = () if behaviour.other_sales_limit == "ignore" else tuple(set(SALES_LIMIT_NAMES) - set(known))
    return ItemReader(known, rejected_names)


def padded(barcode: str) -> str:
    """A barcode as the platform stores it: 14 digits, zeros on the left."""
    return barcode.zfill(BARCODE_DIGITS_MAX)


def barcode_problem(barcode: str) -> str | None:
    """Why a barcode is invalid, or None."""
    if not (barcode.isascii() and barcode.isdigit()):
        return "must have digits only"
    return None if len(barcode) <= BARCODE_DIGITS_MAX else f"must have at most {BARCODE_DIGITS_MAX} digits"


def _text(value: Any, where: str, name: str) -> str | None:
    if value is None:
        return None
    if type(value) is not str:
        raise BodyError(f"{where}.{name}", f"must be a text, not {_shown(value)}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise BodyError(f"{where}.{name}", "has half a surrogate pair") from None
    return value or None


def _barcode(value: Any, where: str) -> str | None:
    barcode = _text(value, where, "barcode")
    if barcode is None:
        return None
    problem = barcode_problem(barcode)
    if problem:
        raise BodyError(f"{where}.barcode", f"{problem}, not {_shown(barcode)}")
    return padded(barcode)


def _whole(value: Any, where: str) -> int | None:
    if value is None or type(value) is int:
        return value
    if type(value) is Decimal and value.adjusted() < 20 and value == value.to_integral_value():
        return int(value)
    raise BodyError(where, f"must be a whole number, not {_shown(value)}")


def _price(value: Any, where: str) -> tuple[int | None, str | None]:
    if value is None:
        return None, None
    if type(value) is not int and type(value) is not Decimal:
        raise BodyError(f"{where}.price", f"must be a number, not {_shown(value)}")
    if value < 0:
        return None, "price must not be negative"
    try:
        price_milli = money.cut(value)
    except OverflowError:
        return None, "price is too large"
    return (price_milli, None) if price_milli <= money.PRICE_MILLI_MAX else (None, "price is too large")


def _clamped(value: int | None) -> int | None:
    return None if value is None else max(-WHOLE_MAX, min(value, WHOLE_MAX))


def _shown(value: Any) -> str:
    text = str(value) if isinstance(value, Decimal) else repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
