"""Catalog and categories as the listing gives them (interface.md 2.3; names of the field notes). Neither quantity nor limit is in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from partner_api import reading

if TYPE_CHECKING:
    from decimal import Decimal

    from partner_api.reading import Raw


@dataclass(frozen=True, slots=True)
class Category:
    """`names`: locale to text."""

    global_id: str | None
    parent_global_id: str | None
    names: dict[str, str]
    active: bool | None
    raw: Raw = field(repr=False)

    @classmethod
    def read(cls, raw: Raw) -> Category:
        names = reading.mapping(reading.mapping(raw.get("details")).get("name"))
        return cls(
            reading.text(raw, "global_id"),
            reading.text(raw, "parent_global_id"),
            {locale: str(name) for locale, name in names.items()},
            reading.boolean(raw, "active"),
            raw,
        )


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One product of a vendor. `price` is exact; None where the platform gave none that is a number."""

    sku: str | None
    barcodes: tuple[str, ...]
    title: str | None
    price: Decimal | None
    active: bool | None
    remote_product_id: str | None
    is_sold_by_weight: bool | None
    categories: tuple[Category, ...] = field(repr=False)
    images: tuple[str, ...] = field(repr=False)
    translations: dict[str, str] = field(repr=False)
    raw: Raw = field(repr=False)

    @classmethod
    def read(cls, raw: Raw) -> CatalogEntry:
        translations = {locale: str(word) for locale, word in reading.mapping(raw.get("translations")).items()}
        active = reading.boolean(raw, "active")
        if active is None and (status := reading.text(raw, "status")) is not None:
            active = {"ACTIVE": True, "INACTIVE": False}.get(status.upper())
        return cls(
            reading.text(raw, "sku"),
            reading.texts(raw.get("barcodes") or raw.get("barcode") or []),
            reading.text(raw, "title") or next(iter(translations.values()), None),
            reading.decimal(raw, "price"),
            active,
            reading.text(raw, "remote_product_id"),
            reading.boolean(raw, "is_sold_by_weight"),
            tuple(Category.read(entry) for entry in reading.mappings(raw.get("categories"))),
            reading.texts(raw.get("images") or []),
            translations,
            raw,
        )


@dataclass(frozen=True, slots=True)
class CatalogPage:
    """One page of the listing. `page_number` is the platform's own: compare it with the requested one."""

    page_number: int | None
    page_size: int | None
    total_pages: int | None
    products: tuple[CatalogEntry, ...] = field(repr=False)
    raw: Raw = field(repr=False)

    @classmethod
    def read(cls, raw: Raw) -> CatalogPage:
        products = raw.get("products", raw.get("items"))
        return cls(
            reading.integer(raw, "page_number", "page"),
            reading.integer(raw, "page_size"),
            reading.integer(raw, "total_pages"),
            tuple(CatalogEntry.read(entry) for entry in reading.mappings(products)),
            raw,
        )


@dataclass(frozen=True, slots=True)
class Listing:
    """All pages of a vendor's catalog, each product once. If not `complete`, absence means nothing; `why` is the reason."""

    products: tuple[CatalogEntry, ...] = field(repr=False)
    pages: int
    repeated: int
    complete: bool
    why: str | None
