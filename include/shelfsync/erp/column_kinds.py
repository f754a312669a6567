"""Which column of shelfsync a column of the ERP may be: by its name in several languages, and by the look of its values."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.rows.check_digit import is_gtin

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_NAMES = {
    "vendor": "vendor vendorid store storeid storeno storecode storenumber shop shopid branch branchid branchcode filiale filialnr filialnummer filial"
    " markt marktnr werk werks plant site location locationid outlet magasin codemagasin tienda sucursal negozio winkel sklep oddzial магазин"
    " филиал склад סניף butik butikk prodejna ma\u011faza üzlet lager lagerort",
    "sku": "sku skuid article articleno articleid articlenumber articlecode artikel artikelnr artikelnummer artikelno artnr item itemid itemno"
    " itemcode itemnumber product productid productcode productno matnr material materialnummer codearticle referencia referencia codigo"
    " codigoarticulo articulo codice codicearticolo indeks kod towar артикул код מקט plu varenummer varenr",
    "barcode": "barcode barcodes ean ean13 eancode gtin upc ean11 eannr strichcode codebarre codebarres codigodebarras codiceabarre kodkreskowy"
    " штрихкод ברקוד strekkode",
    "price": "price itemprice sellingprice salesprice unitprice retailprice preis vkpreis vk vp verkaufspreis bruttopreis einzelpreis prix prixttc"
    " prixvente precio preciovente pvp prezzo prijs cena цена מחיר pris hinta fiyat ár",
    "quantity": "quantity qty stock stockqty stocklevel onhand availableqty bestand menge lagerbestand labst quantite qte stockdisponible"
    " cantidad existencias quantita giacenza voorraad aantal ilosc stan остаток количество כמות מלאי antal beholdning saldo",
    "active": "active isactive enabled status aktiv istaktiv lieferbar verkaufbar listed envente enventa envendita actif activo attivo actief aktywny активен פעיל onsale sellable",
    "max_sales_quantity": "maxsalesquantity maxqty maxquantity salelimit saleslimit limit maxmenge höchstmenge abgabemenge",
    "name": "name title description descr desc itemdesc itemdescription productname itemname articlename bezeichnung artikelbezeichnung beschreibung maktx designation libelle nom nombre"
    " descripcion descrizione nome omschrijving naam nazwa название наименование שם navn nimi",
    "category": "category group productgroup department warengruppe matkl categorie categoria kategorie kategoria категория קטגוריה",
    "cost": "cost costprice purchaseprice ekpreis einkaufspreis ek prixachat costo coste",
    "sales_buffer": "salesbuffer buffer safetystock sicherheitsbestand puffer",
}
KINDS = tuple(_NAMES)
_AVAILABLE = "available verfügbar verfuegbar disponible disponibile disponível beschikbaar dostępny dostępne доступно tilgængelig tillgänglig זמין"
"""Names of a stock in one ERP and of `active` in another: the values distinguish them."""

_TRUTHS = frozenset(["1", "0", "true", "false", "t", "f", "y", "n", "yes", "no", "1.0", "0.0"])
PAIRS = (
    ("ja", "nein"), ("j", "n"), ("oui", "non"), ("o", "n"), ("si", "no"), ("sí", "no"), ("s", "n"), ("x", ""), ("tak", "nie"), ("да", "нет"),
    ("wahr", "falsch"), ("vrai", "faux"), ("aktiv", "inaktiv"), ("active", "inactive"), ("on", "off"), ("ano", "ne"), ("igen", "nem"),
    ("kyllä", "ei"), ("כן", "לא"), ("evet", "hay\u0131r"), ("enabled", "disabled"), ("a", "i"), ("waar", "onwaar"), ("sim", "não"), ("ja", "nej"),
)  # fmt: skip
"""Words for true and false as ERPs write them, besides those that shelfsync knows without a setting."""
NULLS = frozenset(
    [
        r"null",
        r"(null)",
        r"\n",
        r"#n/a",
        r"n/a",
        r"na",
        r"#null!",
        r"nan",
        r"none",
        r"nil",
        r"-",
        r"--",
        r"---",
        r"?",
        r"unknown",
    ]
)
"""Texts that mean "no value" in most ERPs, in lower case."""

_BY_NAME = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_SPACES = " \t\u00a0\u2000-\u200a\u202f\u205f\u3000"
_NUMBER = re.compile(rf"[(+\u2212-]?[{_SPACES}]*\d[\d.,'\u2019{_SPACES}]*(?:[eE][+-]?\d+)?[{_SPACES}]*[)+\u2212-]?")
_AFFIX = re.compile(r"(?:(?!\d)[^\s.,'\u2019()+\u2212\u2013\u2014-]){1,4}\.?")
_CURRENCY_WORDS = "kč zł kr ft лв руб р грн тг сум lei din дин kn fr sfr tl rs rm rp km nis"  # noqa: RUF001
"""What stands for a currency beside numbers, without being its sign or its code."""
_SIGNED = re.compile(r"([(+\u2212-]?)(.*?)([)+\u2212-]?)", re.DOTALL)
_TOKENS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


def bare(name: str) -> str:
    """A column's name in lower case, letters and digits alone, accents off."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if letter.isalnum())


_BARE = (
    {bare(name): kind for name, kind in _BY_NAME.items()}
    | {bare(kind): kind for kind in KINDS}
    | dict.fromkeys(map(bare, _AVAILABLE.split()), "quantity")
)


def is_name(cell: str) -> bool:
    """Whether a cell is a name that shelfsync knows of a column."""
    return len(cell) < 40 and bare(cell) in _BARE


def kinds_among(cells: Iterable[str]) -> int:
    """How many columns of shelfsync the cells name; a title such as `Werk / Lager` names one twice."""
    return len({_BARE[bare(cell)] for cell in cells if is_name(cell)})


def by_name(names: Iterable[str]) -> dict[str, str]:
    """Columns of shelfsync -> the first name that is theirs in a language that shelfsync knows."""
    found: dict[str, str] = {}
    for name in names:
        if is_name(name):
            found.setdefault(_BARE[bare(name)], name)
    return found


def is_number(cell: str) -> bool:
    """Whether a text is a number in any notation, with or without a currency."""
    return len(cell) < 60 and _NUMBER.fullmatch(without_currency(cell)[0]) is not None


def without_currency(cell: str) -> tuple[str, str]:
    """A text without a sign or code of at most four characters before or behind it, and that sign."""
    text = cell.strip()
    opened, bare_text, closed = _SIGNED.fullmatch(text).groups()  # type: ignore[union-attr]
    for found in (_AFFIX.match(bare_text), re.search(_AFFIX.pattern + r"$", bare_text)):
        if found is not None and found.group().casefold() != "e":
            digits = bare_text[: found.start()] + bare_text[found.end() :]
            return opened + digits.strip() + closed, found.group()
    return text, ""


def is_currency(sign: str) -> bool:
    """Whether a text beside a number is a currency; ¢ is none, because it makes the number hundredths."""
    from babel.numbers import list_currencies

    if not sign or "¢" in sign:
        return False
    letters = sign.rstrip(".")
    if any(unicodedata.category(letter) == "Sc" for letter in letters):
        return all(unicodedata.category(letter)[0] in "LS" for letter in letters)
    return letters.casefold() in _CURRENCY_WORDS.split() or letters.upper() in list_currencies()


@dataclass(frozen=True)
class Guess:
    """A column of the ERP as one of shelfsync: how sure, why, and what speaks against it (empty: nothing)."""

    kind: str
    sure: bool
    why: str
    against: str = ""


def guess(name: str, values: Sequence[str]) -> Guess | None:
    """What a column may be; None if its name says nothing to shelfsync."""
    kind, exact = _BARE.get(bare(name)), True
    if bare(name) in map(bare, _AVAILABLE.split()) and is_truth(values):
        kind = "active"
    if kind is None:
        tokens = [bare(token) for token in _TOKENS.split(name) if token]
        kind = next((_BARE[token] for token in reversed(tokens) if token in _BARE), None)
        exact = False
    if kind is None:
        return None
    against = _against_name(kind, name) or _against(
        kind, [value.strip() for value in values if value.strip() and value.strip().casefold() not in NULLS]
    )
    return Guess(kind, exact and not against, "its name" if exact else "a word in its name", against)


_OTHER_MEANING = {
    "price": (
        ("cent cents centimes pence penny kopeck groszy øre öre minor", "shelfsync reads 150 as 150.00 and no cents"),
        ("net netto ht excl exvat neto", "the platform shows the price as it is sent, without a tax added"),
        ("old previous was before uvp msrp rrp", "it may not be today's price"),
    ),
    "quantity": (
        ("min minimum max maximum reserved reserve ordered order incoming transit reorder", "it may not be the stock"),
    ),
}
"""By a kind: words in the name of a column that make it another thing, and why it matters."""


def _against_name(kind: str, name: str) -> str:
    tokens = {bare(token) for token in _TOKENS.split(name) if token}
    for words, why in _OTHER_MEANING.get(kind, ()):
        if said := tokens & {bare(word) for word in words.split()}:
            return f"its name has {said.pop()!r}: {why}"
    return ""


def _against(kind: str, values: Sequence[str]) -> str:
    """What in the values speaks against a kind."""
    if not values:
        return "no row has a value"
    if kind in {"price", "quantity", "max_sales_quantity", "cost", "sales_buffer"}:
        odd = next((value for value in values if not is_number(value)), None)
        return f"{odd[:40]!r} is no number" if odd is not None else ""
    if kind == "active":
        words = {value.casefold() for value in values}
        return f"it has {len(words)} different values" if len(words) > 3 else ""
    if kind == "barcode":
        odd = next((value for value in values if not all(is_gtin(one) for one in re.split(r"[|,; ]+", value))), None)
        return f"{odd[:40]!r} has no right check digit" if odd is not None else ""
    return _against_sku(values) if kind == "sku" else ""


def _against_sku(values: Sequence[str]) -> str:
    if any(re.fullmatch(r"\d+[.,]\d{1,2}", value) for value in values):
        return "its values have decimals"
    if any(re.fullmatch(r"\d{4}-\d\d-\d\d", value) for value in values):
        return "its values are dates, as a spreadsheet makes of codes"
    rounded = any(re.fullmatch(r"\d+(?:[.,]\d+)?[eE]\+\d+", value) for value in values)
    return "its values are rounded, as a spreadsheet shows long numbers" if rounded else ""


def is_truth(values: Sequence[str]) -> bool:
    """Whether a column has words for true and for false alone, and each of its words is known; 1 and 0 may be a stock."""
    words = {value.strip().casefold() for value in values if value.strip()} - NULLS
    return any(
        words in ({true, false}, {true})
        for true, false in (*PAIRS, ("true", "false"), ("yes", "no"), ("y", "n"))
        if false
    )


def is_like_prices(values: Sequence[str]) -> bool:
    """Whether a column has numbers alone, and one of them has two or three decimals or a currency."""
    filled = [value for value in values if value.strip()]
    return all(map(is_number, filled)) and any(
        re.search(r"[.,]\d\d\d?\D*$", value) or is_currency(without_currency(value)[1]) for value in filled
    )


def truth_words(values: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """The words for true and for false that need a setting, and those that shelfsync does not know."""
    words = {value.strip().casefold(): value.strip() for value in values if value.strip()}
    new = {word: value for word, value in words.items() if word not in _TRUTHS and word not in NULLS}
    true = [value for word, value in new.items() if any(word == pair[0] for pair in PAIRS)]
    false = [value for word, value in new.items() if any(word == pair[1] for pair in PAIRS)]
    return true, false, [value for value in new.values() if value not in (*true, *false)]
