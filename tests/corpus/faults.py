"""What goes wrong in a list, and what must become of each of its SKUs: written by rules, for any dialect."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpus.dialects import Dialect

HEADER = ["sku", "name", "price", "quantity", "active"]
SKUS = [f"10000{number}" for number in range(1, 9)]


@dataclass
class Row:
    """A row before it is written: price in thousandths."""

    sku: str
    name: str
    price: int
    quantity: int
    active: bool = True

    def cells(self, dialect: Dialect) -> list[str]:
        """As the dialect writes them."""
        numbers = dialect.numbers
        words = (
            self.sku,
            self.name,
            numbers.price(self.price),
            numbers.count(self.quantity),
            "J" if self.active else "N",
        )
        return [dialect.cell(word) for word in words]


@dataclass
class File:
    """The lines of a file without their ends, and what must become of it.

    `wanted`: SKU -> (price or None: not changed, whether it is on sale). `quarantined`: those whose row is not sent at all. `fails`: words of
    the reason for which the store fails. `tail`: what follows the last line.
    """

    lines: list[str]
    wanted: dict[str, tuple[float | None, bool]]
    quarantined: set[str] = field(default_factory=set)
    fails: str | None = None
    tail: str = "\n"

    def text(self) -> str:
        return "\n".join(self.lines) + self.tail if self.lines else ""


def all_rows() -> list[Row]:
    """What the ERP knows, before any fault."""
    return [
        Row(sku, f"Item {sku}", 1_490 + 1_111_000 * (place % 2) + 10 * place, 5 + place)
        for place, sku in enumerate(SKUS)
    ]


def _file(dialect: Dialect, rows: list[Row] | None = None) -> File:
    rows = all_rows() if rows is None else rows
    lines = [dialect.delimiter.join(cells) for cells in (HEADER, *(row.cells(dialect) for row in rows))]
    return File(lines, {row.sku: (row.price // 10 / 100, row.active and row.quantity > 0) for row in rows})


def _without(file: File, *skus: str) -> File:
    """The rows of these are quarantined: what the platform shows of them stays."""
    for sku in skus:
        del file.wanted[sku]
        file.quarantined.add(sku)
    return file


def _line(file: File, sku: str) -> int:
    return next(place for place, line in enumerate(file.lines) if line.startswith(sku))


def _cell(file: File, dialect: Dialect, sku: str, column: str, text: str) -> File:
    """Puts another text into one cell. No other cell of the row may hold the delimiter."""
    place = _line(file, sku)
    cells = [sku, f"Item {sku}", *[dialect.cell(part) for part in _numbers(dialect, sku)]]
    cells[HEADER.index(column)] = text
    file.lines[place] = dialect.delimiter.join(cells)
    return file


def _numbers(dialect: Dialect, sku: str) -> list[str]:
    row = next(row for row in all_rows() if row.sku == sku)
    return [dialect.numbers.price(row.price), dialect.numbers.count(row.quantity), "J"]


def clean(dialect: Dialect) -> File:
    return _file(dialect)


def stray_quotes(dialect: Dialect) -> File:
    """A name begins with a quote, and a later one ends with it."""
    file = _cell(_file(dialect), dialect, SKUS[2], "name", '"Screen')
    file = _cell(file, dialect, SKUS[3], "name", 'Screen 20"')
    if not dialect.quoted:
        return file
    closed = dialect.delimiter in dialect.numbers.price(
        0
    )  # the quote of its own price ends the name: one row is damaged
    return _without(file, *(SKUS[2:3] if closed else SKUS[2:4]))


def quote_without_an_end(dialect: Dialect) -> File:
    """The name of the last row begins with a quote, and nothing ends it: no other row is lost by it."""
    file = _cell(_file(dialect), dialect, SKUS[-1], "name", '"Screen')
    return _without(file, SKUS[-1]) if dialect.quoted else file


def heading(dialect: Dialect) -> File:
    """A title of a section stands alone in the column of the SKU."""
    file = _file(dialect)
    file.lines.insert(4, dialect.delimiter.join(["Drinks", "", "", "", ""]))
    return file


def no_break_space(dialect: Dialect) -> File:
    """It stands behind a SKU."""
    file = _cell(_file(dialect), dialect, SKUS[3], "sku", f"{SKUS[3]}\u00a0")
    return _without(file, SKUS[3])


def text_for_excel(dialect: Dialect) -> File:
    """A SKU as a formula that keeps its zeros."""
    quote = '"' if not dialect.quoted else ""
    return _without(_cell(_file(dialect), dialect, SKUS[3], "sku", f"={quote}{SKUS[3]}{quote}"), SKUS[3])


def another_style(dialect: Dialect) -> File:
    """One price is written as nobody said: it is left out, and the rest of the row is sent."""
    file = _cell(_file(dialect), dialect, SKUS[0], "price", dialect.cell(dialect.numbers.foreign()))
    file.wanted[SKUS[0]] = (None, True)
    return file


def null_words(dialect: Dialect) -> File:
    file = _cell(_file(dialect), dialect, SKUS[0], "price", "NULL")
    file = _cell(file, dialect, SKUS[1], "quantity", "\\N")
    file.wanted[SKUS[0]] = (None, True)
    return file


def sold_out(dialect: Dialect) -> File:
    """By a zero, by less than nothing, and by the ERP's own word."""
    rows = all_rows()
    rows[1].quantity, rows[2].quantity, rows[3].active = 0, -3, False
    return _file(dialect, rows)


def short_row(dialect: Dialect) -> File:
    file = _file(dialect)
    place = _line(file, SKUS[4])
    file.lines[place] = file.lines[place].rpartition(dialect.delimiter)[0]
    return _without(file, SKUS[4])


def long_row(dialect: Dialect) -> File:
    file = _file(dialect)
    file.lines[_line(file, SKUS[4])] += f"{dialect.delimiter}x"
    return _without(file, SKUS[4])


def two_prices(dialect: Dialect) -> File:
    """One SKU twice, with two prices."""
    rows = all_rows()
    file = _file(dialect, [*rows, Row(SKUS[6], "again", 9_990, 1)])
    return _without(file, SKUS[6])


def blank_lines(dialect: Dialect) -> File:
    file = _file(dialect)
    file.lines[3:3] = ["", ""]
    return file


def another_column(dialect: Dialect) -> File:
    file = _file(dialect)
    file.lines = [
        f"colour{dialect.delimiter}{file.lines[0]}",
        *[f"red{dialect.delimiter}{line}" for line in file.lines[1:]],
    ]
    return file


def other_order(dialect: Dialect) -> File:
    """The columns in another order, their names in capitals."""
    file = _file(dialect)
    rows = [row.cells(dialect) for row in all_rows()]
    order = [4, 2, 0, 3, 1]
    cells = [[name.upper() for name in HEADER], *rows]
    file.lines = [dialect.delimiter.join(row[place] for place in order) for row in cells]
    return file


def old_end(dialect: Dialect) -> File:
    """Lines end as they do on Windows."""
    file = _file(dialect)
    file.lines = [f"{line}\r" for line in file.lines]
    return file


def cut_in_a_row(dialect: Dialect) -> File:
    file = _file(dialect)
    file.lines[-1] = file.lines[-1].rpartition(dialect.delimiter)[0]
    file.tail, file.fails = "", "cut in the middle of the row"
    return file


def cut_at_its_end(dialect: Dialect) -> File:
    file = _file(dialect)
    file.tail, file.fails = "", "does not end with a line break"
    return file


def header_alone(dialect: Dialect) -> File:
    return File(_file(dialect).lines[:1], {}, fails="no row")


def nothing(_dialect: Dialect) -> File:
    return File([], {}, fails="is empty")


def other_header(dialect: Dialect) -> File:
    file = _file(dialect)
    file.lines[0] = file.lines[0].replace("sku", "article")
    file.fails = "'sku'"
    return file


FAULTS: dict[str, Callable[[Dialect], File]] = {
    rule.__name__: rule
    for rule in (
        clean,
        stray_quotes,
        quote_without_an_end,
        heading,
        no_break_space,
        text_for_excel,
        another_style,
        null_words,
        sold_out,
        short_row,
        long_row,
        two_prices,
        blank_lines,
        another_column,
        other_order,
        old_end,
        cut_in_a_row,
        cut_at_its_end,
        header_alone,
        nothing,
        other_header,
    )
}
