"""How times and prices are written for people: in the time zone and the currency of the chain.

`open_app` sets both for as long as it is open. What serves several chains says which it shows, by `during`. A script gets neither: within
`for_scripts` times are in UTC and prices are bare.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import zoneinfo
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MINUTE = "%Y-%m-%d %H:%M"
_SECOND = "%Y-%m-%d %H:%M:%S"
_TIME = "%H:%M:%S"

_WHOLE = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
_THOUSANDTHS = "BHD IQD JOD KWD LYD OMR TND"
_DIGITS = {**dict.fromkeys(_WHOLE.split(), 0), **dict.fromkeys(_THOUSANDTHS.split(), 3)}
"""Decimals of the currencies that have not two (ISO 4217)."""


@dataclass(frozen=True)
class Display:
    """The time zone of times, and the currency of prices; None: prices are bare."""

    zone: dt.tzinfo = dt.UTC
    currency: str | None = None

    @classmethod
    def of(cls, time_zone: str, currency: str | None) -> Display:
        """By the names of the settings."""
        return cls(dt.UTC if time_zone == "UTC" else zoneinfo.ZoneInfo(time_zone), currency)


_FOR_SCRIPTS = Display()
_used: list[Display] = [_FOR_SCRIPTS]
_here: ContextVar[Display | None] = ContextVar("display_here", default=None)
_bare: ContextVar[bool] = ContextVar("display_for_scripts", default=False)


@contextlib.contextmanager
def used(display: Display) -> Iterator[None]:
    """The display of this process for as long as the block lasts; the one before it afterwards."""
    _used.append(display)
    try:
        yield
    finally:
        _used.remove(display)


def use(display: Display) -> None:
    """The display of this process from now on, or to the end of the `scope` around it."""
    _used.append(display)


@contextlib.contextmanager
def scope() -> Iterator[None]:
    """Behind the block the display is the one before it: a command prints its lines after it has closed what it opened."""
    before = list(_used)
    try:
        yield
    finally:
        _used[:] = before


@contextlib.contextmanager
def during(display: Display) -> Iterator[None]:
    """The display of what is done within the block, and of nothing beside it."""
    before = _here.set(display)
    try:
        yield
    finally:
        _here.reset(before)


@contextlib.contextmanager
def for_scripts() -> Iterator[None]:
    """Every time in UTC and every price bare within the block, whatever the settings."""
    before = _bare.set(True)
    try:
        yield
    finally:
        _bare.reset(before)


def current() -> Display:
    """The display that counts here."""
    return _FOR_SCRIPTS if _bare.get() else _here.get() or _used[-1]


def local(at: dt.datetime) -> dt.datetime:
    """The instant in the zone; in UTC where the calendar ends before the zone has it, in the year 9999. Without a zone it is UTC."""
    at = at if at.tzinfo else at.replace(tzinfo=dt.UTC)
    try:
        return at.astimezone(current().zone)
    except OverflowError:
        return at.astimezone(dt.UTC)


def read_instant(text: str, time_zone: str) -> dt.datetime:
    """An ISO instant that a person writes, in UTC; of this zone where it has no offset. A ValueError names no instant."""
    try:
        read = dt.datetime.fromisoformat(text)
        return (read if read.tzinfo else read.replace(tzinfo=zoneinfo.ZoneInfo(time_zone))).astimezone(dt.UTC)
    except (ValueError, OverflowError):  # before the year 1 or after 9999, seen from Greenwich
        raise ValueError(
            f"{text!r} is no instant; write 2026-03-01T10:42 ({time_zone}) or 2026-03-01T11:42+01:00"
        ) from None


def instant(at: dt.datetime) -> str:
    """To the second: `2026-03-01 11:42:00 CET`."""
    return f"{local(at):{_SECOND} %Z}"


def minute(at: dt.datetime) -> str:
    """To the minute: `2026-03-01 11:42 CET`."""
    return f"{local(at):{MINUTE} %Z}"


def time(at: dt.datetime, now: dt.datetime) -> str:
    """The time of day: `11:42:00 CET`, with the date if it is another day than now."""
    at, now = local(at), local(now)
    return f"{at:{_TIME} %Z}" if at.date() == now.date() else f"{at:{_SECOND} %Z}"


def day(at: dt.datetime) -> str:
    """The day in the zone."""
    return f"{local(at):%Y-%m-%d}"


def span(start: dt.datetime, end: dt.datetime) -> str:
    """`2026-03-01 11:00 to 2026-03-02 23:00 CET`; both in UTC if one of them must be, and both named if a change of the clock is between."""
    first, last = local(start), local(end)
    if dt.UTC in {first.tzinfo, last.tzinfo}:
        first, last = first.astimezone(dt.UTC), last.astimezone(dt.UTC)
    named = " %Z" if first.tzname() != last.tzname() else ""
    return f"{first:{MINUTE}{named}} to {last:{MINUTE} %Z}"


def price(value: Decimal) -> str:
    """Every digit that it has, and at least those of the currency (two without one): `4.90 EUR`, `490 JPY`, `4.995`."""
    exponent = value.normalize().as_tuple().exponent
    has = -exponent if isinstance(exponent, int) else 0
    return _with_code(f"{value:.{max(currency_digits(), has)}f}")


def total(value: Decimal) -> str:
    """A sum of prices, rounded to the digits of the currency: `1,234.50 EUR`."""
    return _with_code(f"{value:,.{currency_digits()}f}")


def discount(subtype: str, value: Decimal) -> str:
    """What a promotion makes of a price: `4.90 EUR`, `1.50 EUR off`, `20 % off`."""
    if subtype == "PERCENTAGE":
        return f"{value.normalize():f} % off"
    return f"{price(value)} off" if subtype == "ABSOLUTE" else price(value)


def product(sku: str, name: str | None) -> str:
    """A SKU with the name of its product, if that is known: `4711 (whole milk 1 l)`."""
    return f"{sku} ({name})" if name else sku


def value(name: str, held: object) -> str:
    """A value of a SKU by its column's name."""
    return price(held) if name == "price" and isinstance(held, Decimal) else str(held)


def currency_digits() -> int:
    return digits_of(current().currency)


def digits_of(currency: str | None) -> int:
    """Decimals of a currency; two without one."""
    return _DIGITS.get(currency or "", 2)


def _with_code(number: str) -> str:
    return f"{number} {currency}" if (currency := current().currency) else number
