"""Catalog update, listing, categories, export, creation (interface.md 2.3, 4.1 to 4.5; names of the field notes).

Reading is tolerant, and `raw` holds what the platform sent. Neither quantity nor sales limit is in the listing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from partner_api import answers, json_values
from partner_api.call import Call
from partner_api.errors import AmbiguousError, InvalidRequestError, UnexpectedAnswerError
from partner_api.exchange import exchange, judged
from partner_api.jobs import Job
from partner_api.json_values import dumps
from partner_api.pages import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from decimal import Decimal

    from partner_api.json_values import Raw
    from partner_api.sender import Answer, StreamedBody
    from partner_api.session import Session


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
        names = json_values.mapping(json_values.mapping(raw.get("details")).get("name"))
        return cls(
            json_values.text(raw, "global_id"),
            json_values.text(raw, "parent_global_id"),
            {locale: str(name) for locale, name in names.items()},
            json_values.boolean(raw, "active"),
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
        translations = {locale: str(word) for locale, word in json_values.mapping(raw.get("translations")).items()}
        active = json_values.boolean(raw, "active")
        if active is None and (status := json_values.text(raw, "status")) is not None:
            active = {"ACTIVE": True, "INACTIVE": False}.get(status.upper())
        return cls(
            json_values.text(raw, "sku"),
            json_values.texts(raw.get("barcodes") or raw.get("barcode") or []),
            json_values.text(raw, "title") or next(iter(translations.values()), None),
            json_values.decimal(raw, "price"),
            active,
            json_values.text(raw, "remote_product_id"),
            json_values.boolean(raw, "is_sold_by_weight"),
            tuple(Category.read(entry) for entry in json_values.mappings(raw.get("categories"))),
            json_values.texts(raw.get("images") or []),
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
            json_values.integer(raw, "page_number", "page"),
            json_values.integer(raw, "page_size"),
            json_values.integer(raw, "total_pages"),
            tuple(CatalogEntry.read(entry) for entry in json_values.mappings(products)),
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


JSON = {"Content-Type": "application/json"}


def update_catalog(session: Session, vendor_id: str, body: bytes | StreamedBody, *, priority: str = "catalog") -> Job:
    """Sends changes of one vendor (4.1); `body` is the whole JSON text `{"products": [...]}` and goes out with its exact length.

    The answer is a receipt, not a success. AmbiguousError: the platform may have received it; find out before the next step.
    InvalidRequestError: the platform rejects the whole body for one bad item.
    """
    call = Call(
        operation="put_catalog",
        priority=priority,
        vendors=(vendor_id,),
        method="PUT",
        url=session.url(session.dialect.catalog_path, vendor_id=vendor_id),
        body=body,
        headers=JSON,
    )
    body_bytes = len(body) if isinstance(body, bytes) else body.body_bytes
    if body_bytes > session.dialect.body_max_bytes:
        raise InvalidRequestError(
            f"the body has {body_bytes} bytes, {session.dialect.body_max_bytes} are allowed; nothing was sent",
            operation=call.operation,
            remedy="Send smaller batches",
        )
    answer = judged(session, call)
    return receipt(session, call, answer, at_once=answer.status == 200)


def list_catalog(
    session: Session,
    vendor_id: str,
    page: int = 1,
    page_size: int | None = None,
    *,
    query_term: str | None = None,
    category_global_ids: Sequence[str] = (),
    locale: str | None = None,
    is_active: bool | None = None,
    priority: str = "catalog",
) -> CatalogPage:
    """One page of a vendor's products (4.2), counted from 1."""
    parameters: list[tuple[str, str]] = [
        ("page", str(page)),
        ("page_size", str(page_size or session.dialect.listing_page_size)),
    ]
    if query_term is not None:
        parameters.append(("query_term", query_term))
    parameters += [("category_global_ids", one) for one in category_global_ids]
    if locale is not None:
        parameters.append(("locale", locale))
    if is_active is not None:
        parameters.append(("is_active", "true" if is_active else "false"))
    url = session.url(session.dialect.catalog_path, vendor_id=vendor_id)
    call = _get("list_catalog", priority, vendor_id, f"{url}?{urlencode(parameters)}")
    answer = judged(session, call)
    body = answers.body_of(answer, call, session)
    if not isinstance(body.get("products", body.get("items")), list):
        raise UnexpectedAnswerError("the listing holds no products", **answers.of(answer, call, session))
    return CatalogPage.read(body)


def ping(session: Session, vendor_id: str, *, within_s: float = 10.0, priority: str = "price") -> int:
    """The status of the platform's answer to a listing of one product (4.2), requested once and for at most `within_s` seconds.

    It changes nothing. UnavailableError: no answer came.
    """
    url = session.url(session.dialect.catalog_path, vendor_id=vendor_id)
    call = _get("list_catalog", priority, vendor_id, f"{url}?page=1&page_size=1")
    return exchange(session, replace(call, attempts_max=1, deadline_s=within_s)).status


def whole_catalog(
    session: Session,
    vendor_id: str,
    *,
    page_size: int | None = None,
    is_active: bool | None = None,
    priority: str = "catalog",
) -> Listing:
    """All pages, each product once. A listing that repeats itself, changes its length or does not end is incomplete."""

    def fetch(page: int) -> CatalogPage:
        return list_catalog(session, vendor_id, page, page_size, is_active=is_active, priority=priority)

    found = walk(fetch, lambda page: page.products, _identity, session.dialect.pages_max)
    return Listing(tuple(found.entries.values()), found.pages, found.repeated, found.why is None, found.why)


def _identity(entry: CatalogEntry) -> object:
    return entry.remote_product_id or entry.sku or id(entry)


def categories(
    session: Session, vendor_id: str, *, only_leaves: bool | None = None, priority: str = "catalog"
) -> tuple[Category, ...]:
    """A vendor's categories (4.3). `only_leaves=False` returns the inner ones too; the platform's default is leaves."""
    url = session.url(session.dialect.categories_path, vendor_id=vendor_id)
    if only_leaves is not None:
        url += f"?only_leaves={'true' if only_leaves else 'false'}"
    call = _get("categories", priority, vendor_id, url)
    answer = judged(session, call)
    entries = answers.body_of(answer, call, session).get("categories")
    if not isinstance(entries, list):
        raise UnexpectedAnswerError("the answer holds no categories", **answers.of(answer, call, session))
    return tuple(Category.read(entry) for entry in entries if isinstance(entry, dict))


def export(session: Session, vendor_id: str, *, priority: str = "export") -> Job:
    """Starts an export of a vendor's assortment (4.4); its file comes by webhook or by the job's status."""
    call = Call("export", priority, (vendor_id,), "POST", session.url(session.dialect.export_path, vendor_id=vendor_id))
    answer = judged(session, call)
    return receipt(session, call, answer, at_once=False)


def create_products(
    session: Session,
    products: Iterable[Mapping[str, Any]],
    vendors: Sequence[str] = ("*",),
    *,
    priority: str = "catalog",
) -> Job:
    """Proposes new products for these vendors, `*` for all (4.5, early access). NotEnabledError outside the pilot."""
    body = dumps({"vendors": list(vendors), "products": list(products)})
    call = Call(
        "create_products",
        priority,
        tuple(vendors),
        "POST",
        session.url(session.dialect.creation_path),
        body=body,
        headers=JSON,
    )
    answer = judged(session, call)
    return receipt(session, call, answer, at_once=False)


def receipt(session: Session, call: Call, answer: Answer, *, at_once: bool) -> Job:
    """The job of a good answer; AmbiguousError if it names none: the fate of the work is then unknown."""
    body = answers.body_of(answer, call, session)
    job = Job.read(body)
    if job.job_id is not None or (at_once and "sku" in body):
        return job
    raise AmbiguousError("the platform accepted the request and named no job", **answers.of(answer, call, session))


def _get(operation: str, priority: str, vendor_id: str, url: str) -> Call:
    return Call(operation, priority, (vendor_id,), "GET", url, safe_to_repeat=True)
