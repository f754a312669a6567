"""An ERP unlike the sample: German names, several companies with composite keys, price lists by store, stock by lot, deleted flags.

`fill` makes it from a seed. `truth` works out in Python, row by row, what each store sells; it uses no SELECT of shelfsync or the docs.
"""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row

if TYPE_CHECKING:
    from collections.abc import Iterable

    import psycopg

SCHEMA = Path(__file__).with_suffix(".sql")
MONDAY = dt.date(2026, 3, 2)
COMPANY, OTHER_COMPANY = "001", "002"
STORES = {"0001": "store-001", "0002": "store-002", "0017": "store-003"}
ARTICLES = 300
CHANGES = {
    "a day goes by": ['UPDATE wawi.mandant SET "Geschäftstag" = "Geschäftstag" + 1'],
    "stock moves": [
        "UPDATE wawi.charge SET menge = greatest(menge - 3.25, 0) WHERE mandant = '001' AND charge LIKE 'L00%'",
        "INSERT INTO wawi.charge SELECT mandant, filiale, artikel, 'NEU', NULL, 12 FROM wawi.sortiment WHERE artikel LIKE '00000000_7%'",
        (
            "INSERT INTO wawi.reservierung SELECT mandant, 'X' || filiale || right(charge, 5), 1, filiale, artikel, charge, menge"
            " FROM wawi.charge WHERE mandant = '001' AND charge LIKE 'L02_0%'"
        ),
    ],
    "price lists": [
        "UPDATE wawi.filial_preisliste SET geloescht = 'J' WHERE mandant = '001' AND filiale = '0001' AND liste = 'STADT'",
        "UPDATE wawi.filial_preisliste SET geloescht = 'N' WHERE mandant = '001' AND filiale = '0002' AND liste = 'STADT'",
        "UPDATE wawi.preis SET vk_preis = vk_preis * 0.95 WHERE mandant = '002'",
    ],
    "deleted and back": [
        "UPDATE wawi.artikel SET geloescht = 'J' WHERE mandant = '001' AND artikel IN ('0000000001', '0000000002')",
        "UPDATE wawi.sortiment SET geloescht = 'J' WHERE mandant = '001' AND filiale = '0017' AND artikel = '0000000003'",
        "UPDATE wawi.sortiment SET geloescht = 'N' WHERE mandant = '001' AND filiale = '0002' AND artikel LIKE '00-%'",
        "UPDATE wawi.sortiment SET gesperrt = 'J' WHERE mandant = '001' AND filiale = '0001' AND artikel = '0000000005'",
        "UPDATE wawi.preis SET geloescht = 'J' WHERE mandant = '001' AND artikel = '0000000007'",
    ],
    "two main barcodes": [
        "UPDATE wawi.artikel_ean SET haupt_ean = 'J' WHERE mandant = '001' AND artikel = '0000000011'"
    ],
    "one main barcode": [
        "UPDATE wawi.artikel_ean SET haupt_ean = 'N' WHERE mandant = '001' AND artikel = '0000000011'"
    ],
}


@dataclass(frozen=True)
class Wanted:
    """What one store should show of one article; `price` with all its decimals, None: the article has none today."""

    price: Decimal | None
    quantity: int
    active: bool
    limit: int | None

    @property
    def on_sale(self) -> bool:
        return self.active and self.quantity > 0


def fill(connection: psycopg.Connection, seed: int = 1) -> None:
    """Two companies with the same numbers; the stores and articles of `COMPANY` are those on the platform."""
    connection.execute(SCHEMA.read_bytes())
    rows = _Rows(random.Random(seed))
    for company, stores in ((COMPANY, (*STORES, "0099")), (OTHER_COMPANY, ("0001",))):
        rows.company(company, stores)
    for table, lines in rows.of.items():
        with connection.cursor().copy(f"COPY wawi.{table} FROM STDIN") as copy:
            for line in lines:
                copy.write_row(line)


def change(connection: psycopg.Connection, *names: str) -> None:
    """Business changes by their names in CHANGES; each statement must change something."""
    for statement in (statement for name in names for statement in CHANGES[name]):
        assert connection.execute(statement.encode()).rowcount, statement


class _Rows:
    """The lines of each table, in the order of its columns."""

    def __init__(self, random_: random.Random) -> None:
        self.of: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self._random = random_
        self._eans = 0

    def company(self, company: str, stores: Iterable[str]) -> None:
        self.of["mandant"].append((company, f"Handel {company} Süd", "BASIS", MONDAY))
        self.of["preisliste"] += [(company, name, name) for name in ("BASIS", "STADT", "AKTION", "LAND")]
        self.of["filiale"] += [(company, store, f"Markt {store}", "J" if store == "0099" else "N") for store in stores]
        lists = [("0001", "STADT", 20, -500, None, "N"), ("0001", "AKTION", 10, 0, 5, "N")]
        if company == COMPANY:
            lists += [
                ("0002", "LAND", 20, -500, 1, "N"),
                ("0002", "STADT", 30, -500, None, "J"),
                ("0017", "AKTION", 10, 1, 4, "N"),
            ]
        for store, name, rank, first, last, gone in lists:
            self.of["filial_preisliste"].append((company, store, name, rank, _day(first), _day(last), gone))
        for number in range(1, ARTICLES + 1):
            self._article(company, number, list(stores))

    def _article(self, company: str, number: int, stores: list[str]) -> None:
        code, by_weight, base = article(number), number % 6 == 0, Decimal(self._random.randrange(39, 4999)) / 100
        limit, shelf_life = self._random.choice((None, None, 6, 24)), self._random.choice((0, 0, 1, 3))
        unit, gone = "KG" if by_weight else "STK", "J" if number % 97 == 0 else "N"
        cost = (base * Decimal("0.6")).quantize(Decimal("0.0001"))
        self.of["artikel"].append(
            (company, code, f"Artikel {number}, größer", f"WG{number % 12:03d}", unit, shelf_life, limit, cost, gone)
        )
        for nth in range(3 if number == 11 else number % 4):
            self._eans += 1
            self.of["artikel_ean"].append(
                (company, code, _ean(self._eans, short=number % 9 == 0), "N" if nth else "J", "N")
            )
        self._prices(company, code, number, base)
        for store in stores:
            blocked, unlisted = (number + int(store)) % 41 == 0, (number * 7 + int(store)) % 53 == 0
            self.of["sortiment"].append((company, store, code, "NJ"[blocked], "NJ"[unlisted]))
            for nth in range(self._random.choice((0, 1, 1, 2, 3))):
                self._lot(company, store, code, f"L{number:04d}{nth}", by_weight=by_weight)

    def _prices(self, company: str, code: str, number: int, base: Decimal) -> None:
        """The base list has an old price, today's (one in ten with four decimals, one in 25 per 100), and a later one."""
        per = 100 if number % 25 == 0 else 1
        today = (base + (Decimal("0.0055") if number % 10 == 0 else 0)) * per
        lines = [("BASIS", -400, -31, base + 1, 1, "N")]
        if number % 71:
            lines.append(("BASIS", -30, None, today, per, "N"))
        if number % 50 == 0:
            lines.append(("BASIS", 1, None, base + 2, 1, "N"))
        if number % 3 == 0:
            lines.append(
                ("STADT", -60, None, (base * Decimal("1.05")).quantize(Decimal("0.0001")), 1, "NJ"[number % 33 == 0])
            )
        if number % 5 == 0:
            lines.append(("LAND", -10, 2, base - Decimal("0.10"), 1, "N"))
        if number % 40 == 0:
            lines.append(("AKTION", -1, 6, (base * Decimal("0.8")).quantize(Decimal("0.01")), 1, "N"))
        for name, first, last, price, unit, gone in lines:
            self.of["preis"].append((company, name, code, _day(first), _day(last), price, unit, gone))

    def _lot(self, company: str, store: str, code: str, lot: str, *, by_weight: bool) -> None:
        amount = Decimal(self._random.randrange(60_000)) / 1000 if by_weight else Decimal(self._random.randrange(60))
        best_before = _day(self._random.choice((None, -2, 0, 1, 20, 90)))
        blocked, gone = ("NJ"[self._random.random() < 0.04] for _ in range(2))
        self.of["charge"].append((company, store, code, lot, best_before, amount, blocked, gone))
        for _ in range(self._random.choice((0, 0, 0, 1, 2))):
            reserved = (
                Decimal(self._random.randrange(100, 5000)) / 1000
                if by_weight
                else Decimal(self._random.randrange(1, 5))
            )
            document = f"R{len(self.of['reservierung']):06d}"
            self.of["reservierung"].append(
                (company, document, 1, store, code, lot, reserved, self._random.choice("NNJ"))
            )


def article(number: int) -> str:
    """Zeros in front, and some with letters; the column pads it with spaces."""
    return f"{number:010d}" if number % 4 else f"00-{number:05d}K"


def _day(after: int | None) -> dt.date | None:
    return None if after is None else MONDAY + dt.timedelta(after)


def _ean(number: int, *, short: bool) -> str:
    body = f"{2_000_000 + number}" if short else f"{400_638_000_000 + number}"
    total = sum(int(digit) * (1 if place % 2 else 3) for place, digit in enumerate(reversed(body)))
    return f"{body}{-total % 10}"


def truth(connection: psycopg.Connection) -> dict[tuple[str, str], Wanted]:
    """By (vendor, sku) what the platform should show; what is not in it is off sale."""
    tables = {name: [*_read(connection, name)] for name in ("mandant", "filiale", "artikel", "sortiment")}
    today, base_list = tables["mandant"][0]["Geschäftstag"], tables["mandant"][0]["basisliste"]
    open_stores = {row["filiale"] for row in tables["filiale"] if row["geloescht"] == "N"}
    articles = {row["artikel"]: row for row in tables["artikel"]}
    prices = {}
    for row in sorted(_valid(connection, "preis", today), key=lambda row: row["gueltig_ab"]):
        prices[row["liste"], row["artikel"]] = row["vk_preis"] / row["preiseinheit"]  # the latest one stays
    lists = defaultdict(list)
    for row in sorted(_valid(connection, "filial_preisliste", today), key=lambda row: row["rangfolge"]):
        lists[row["filiale"]].append(row["liste"])
    stock: Counter[tuple[str, str]] = Counter()
    usable = set()
    for row in _read(connection, "charge"):
        earliest = today + dt.timedelta(articles[row["artikel"]]["restlaufzeit"])
        if (row["gesperrt"], row["geloescht"]) == ("N", "N") and (row["mhd"] is None or row["mhd"] >= earliest):
            usable.add((row["filiale"], row["artikel"], row["charge"]))
            stock[row["filiale"], row["artikel"]] += row["menge"]
    for row in _read(connection, "reservierung"):
        if row["storniert"] == "N" and (row["filiale"], row["artikel"], row["charge"]) in usable:
            stock[row["filiale"], row["artikel"]] -= row["menge"]
    found = {}
    for row in tables["sortiment"]:
        store, code = row["filiale"], row["artikel"]
        if store in open_stores and row["geloescht"] == "N" and articles[code]["geloescht"] == "N":
            candidates = [prices[name, code] for name in (*lists[store], base_list) if (name, code) in prices]
            price = candidates[0] if candidates else None
            active = row["gesperrt"] == "N" and price is not None
            found[STORES[store], code] = Wanted(
                price, max(0, int(stock[store, code])), active, articles[code]["max_abgabe"]
            )
    return found


def _read(connection: psycopg.Connection, table: str) -> Iterable[dict[str, Any]]:
    statement = f"SELECT * FROM wawi.{table} WHERE mandant = %s"
    for row in connection.cursor(row_factory=dict_row).execute(statement.encode(), [COMPANY]):
        yield {name: value.rstrip(" ") if isinstance(value, str) else value for name, value in row.items()}


def _valid(connection: psycopg.Connection, table: str, today: dt.date) -> Iterable[dict[str, Any]]:
    for row in _read(connection, table):
        if row["geloescht"] == "N" and row["gueltig_ab"] <= today <= (row["gueltig_bis"] or today):
            yield row
