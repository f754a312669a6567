"""What the sample chain sells, drawn by a seed: ordinary products, and every kind of row that breaks integrations."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random


def with_check_digit(digits: str) -> str:
    """7 or 12 digits with the check digit of EAN-8 or EAN-13: weights 3, 1, 3, ... from the right."""
    weighted = sum(int(digit) * (3 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(digits)))
    return f"{digits}{-weighted % 10}"


def is_valid(code: str) -> bool:
    """Whether a text is an EAN-8 or EAN-13 with its right check digit."""
    return code.isascii() and code.isdigit() and len(code) in {8, 13} and with_check_digit(code[:-1]) == code


_DEPARTMENTS = {
    # name: (sold by weight, lowest and highest price in cents, things, sizes)
    "fruit": (
        True,
        99,
        1299,
        "Apples Pears Bananas Grapes Lemons Plums Cherries Mangoes",
        ("loose", "ripe", "organic"),
    ),
    "vegetables": (
        True,
        79,
        899,
        "Tomatoes Carrots Potatoes Onions Leeks Cabbage Peppers",
        ("loose", "organic", "young"),
    ),
    "butchery": (True, 690, 4990, "Beef Lamb Chicken Turkey Mince Sausages", ("fillet", "shoulder", "for stewing")),
    "bakery": (False, 45, 690, "Rolls Rye-bread Baguette Croissant Bagels Flatbread", ("1 pc", "4 pcs", "500 g")),
    "dairy": (False, 59, 990, "Milk Yoghurt Butter Quark Cream Cheddar Feta", ("200 g", "500 g", "1 l")),
    "drinks": (False, 39, 2490, "Water Cola Lemonade Juice Tea Coffee Beer Syrup", ("0.33 l", "1 l", "6 x 1.5 l")),
    "pantry": (False, 49, 1590, "Pasta Rice Flour Sugar Salt Oil Vinegar Lentils Mustard", ("250 g", "500 g", "1 kg")),
    "sweets": (False, 29, 1290, "Chocolate Biscuits Wafers Liquorice Toffee Crisps", ("40 g", "100 g", "family pack")),
    "frozen": (False, 199, 1890, "Pizza Peas Spinach Fish-fingers Ice-cream Dumplings", ("300 g", "450 g", "1 kg")),
    "household": (False, 89, 3490, "Soap Detergent Sponges Candles Foil Batteries", ("1 pc", "2 pcs", "refill")),
}
_MAKERS = (
    "Almira",
    "Borealis",
    "Cassava & Sons",
    "Dunmore",
    "Estrela",
    "Fennel",
    "Grano",
    "Hof",
    "Iris",
    "Juniper",
    "Kastel",
)
_ODD_NAMES = (
    'Pizza "Quattro" 12" thin',
    "O'Malley's 7;5 % stout, 0,5 l",
    "Crème brûlée – 2 × 100 g",  # noqa: RUF001  as people write it
    "🍓 Strawberries 🍓 (Grade I)",
    "חלב 3% שומן 1 ליטר",
    "عصير برتقال ١٠٠٪",  # noqa: RUF001
    "寿司 セット 8 貫",
    "'; DROP TABLE product; --",
    "=HYPERLINK(A1)",
    "<b>Bold</b> & spicy </td>",
    "Two\nlines and a\ttab",
    "  spaces around  ",
    "e\u0301clair (combining accent)",
    "\u202etxet ,tfel ot thgiR",
    "Long " + "very " * 50 + "name",
    "100% {vendor} %s :sku \\n",
)


@dataclass(frozen=True)
class Product:
    """One product; `barcodes` has the main one first. Prices in the chain's currency, per kilogram where `sold_by_weight`."""

    product_id: int
    item_code: str
    name: str
    department: str
    sold_by_weight: bool
    list_price: Decimal
    max_per_order: int | None
    active: bool
    barcodes: tuple[str, ...]


def draw(chance: Random, number: int) -> list[Product]:
    """That many products, each with its own item code and barcodes."""
    codes = _item_codes(chance, number)
    return [_product(chance, product_id, code) for product_id, code in enumerate(codes, 1)]


def amount(chance: Random, low_cents: int, high_cents: int) -> Decimal:
    """A price: mostly in cents, one in ten with four decimals as a tax computation leaves them."""
    if chance.random() < 0.1:
        return Decimal(chance.randint(low_cents * 100, high_cents * 100)).scaleb(-4)
    return Decimal(chance.randint(low_cents, high_cents)).scaleb(-2)


def _product(chance: Random, product_id: int, item_code: str) -> Product:
    department = chance.choice(list(_DEPARTMENTS))
    by_weight, low, high, things, sizes = _DEPARTMENTS[department]
    name = f"{chance.choice(_MAKERS)} {chance.choice(things.split()).replace('-', ' ')} {chance.choice(sizes)}"
    if product_id % 60 == 0:
        name = _ODD_NAMES[product_id // 60 % len(_ODD_NAMES)]
    return Product(
        product_id=product_id,
        item_code=item_code,
        name=name,
        department=department,
        sold_by_weight=by_weight,
        list_price=amount(chance, low, high),
        max_per_order=chance.choice((1, 2, 3, 5, 10, 24)) if chance.random() < 0.12 else None,
        active=chance.random() >= 0.01,
        barcodes=_barcodes(chance, product_id, by_weight=by_weight),
    )


def _item_codes(chance: Random, number: int) -> list[str]:
    """As a chain's codes are after thirty years: numbers, numbers with zeros in front, letters, and pairs that differ only in case."""
    codes: list[str] = []
    for index, digits in enumerate(chance.sample(range(1000, 1_000_000), number)):
        match index % 20:
            case 0:
                codes.append(f"kx{digits}")
            case 1:
                codes.append(codes[-1].upper())
            case 2 | 3:
                codes.append(f"00{digits}")
            case 4:
                codes.append(f"PLU-{digits}/A.{index % 7}")
            case _:
                codes.append(str(digits))
    return codes


def _barcodes(chance: Random, product_id: int, *, by_weight: bool) -> tuple[str, ...]:
    """None for a few, EAN-8 for some, two for some; a product by weight has one of the store's own range, which begins with 2."""
    kind = chance.random()
    if kind < (0.15 if by_weight else 0.02):
        return ()
    if kind > 0.92:
        return (with_check_digit(f"{4_000_000 + product_id}"),)
    prefix = "29" if by_weight else chance.choice(("00", "40", "50", "72", "87"))
    main = with_check_digit(f"{prefix}{chance.randint(0, 99999):05}{product_id:05}")
    if chance.random() < 0.08:
        return (main, with_check_digit(f"76{chance.randint(0, 99999):05}{product_id:05}"))
    return (main,)
