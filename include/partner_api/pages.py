"""All pages of a listing or a history; one that repeats itself, changes its length or does not end is incomplete."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence


T = TypeVar("T")


class Page(Protocol):
    """What every page reports of itself."""

    @property
    def page_number(self) -> int | None: ...

    @property
    def total_pages(self) -> int | None: ...


PageT = TypeVar("PageT", bound=Page)


@dataclass(slots=True)
class Walk(Generic[T]):
    """The entries of all pages, each once, and why some may be missing (None: none are)."""

    entries: dict[Hashable, T] = field(default_factory=dict)
    pages: int = 0
    repeated: int = 0
    why: str | None = None


def walk(
    fetch: Callable[[int], PageT],
    entries_of: Callable[[PageT], Sequence[T]],
    key: Callable[[T], Hashable],
    pages_max: int,
) -> Walk[T]:
    """All pages from 1 on, up to the last one, an empty one if the pages report no total, or the first contradiction."""
    found: Walk[T] = Walk()
    total: int | None = None
    while found.why is None and (total is None or found.pages < total):
        if found.pages >= pages_max:
            found.why = f"it had not ended after {pages_max} pages"
            break
        page = fetch(found.pages + 1)
        found.pages += 1
        entries = entries_of(page)
        before = len(found.entries)
        for entry in entries:
            found.entries.setdefault(key(entry), entry)
        new = len(found.entries) - before
        found.repeated += len(entries) - new
        found.why = _contradiction(found.pages, total, page, entries=len(entries), new=new)
        if page.total_pages is None and not entries:
            break
        total = page.total_pages
    if found.why is None and found.repeated:
        found.why = f"{found.repeated} entries came twice, so others may have slipped between two pages"
    return found


def _contradiction(asked: int, total: int | None, page: Page, *, entries: int, new: int) -> str | None:
    if page.page_number is not None and page.page_number != asked:
        return f"the client requested page {asked} and {page.page_number} came"
    if total is not None and page.total_pages != total:
        return f"it had {total} pages at first and {page.total_pages} at page {asked}"
    if entries and not new:
        return f"page {asked} held only what had come before"
    if page.total_pages is not None and (asked > page.total_pages if entries else asked < page.total_pages):
        return f"page {asked} of {page.total_pages} {'held something' if entries else 'was empty'}"
    return None
