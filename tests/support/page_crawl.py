"""Follows the links and forms of the pages, as a person does who types in what a form requires."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urljoin, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

SAME_KIND_MAX = 8
"""Pages of one route that are opened: a list links to a page a row."""
FILES = (
    "text/css",
    "text/csv",
    "application/json",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
)
"""What a page leads to beside pages."""


class Page(HTMLParser):
    """Links and forms of a page, in its order. `typed`: what a person types into a field that a form requires."""

    def __init__(self, url: str, text: str, typed: Mapping[str, str]) -> None:
        super().__init__()
        self.url = url
        self.typed = typed
        self.links: dict[str, None] = {}
        self.posts: dict[str, None] = {}
        self._form: tuple[str, dict[str, str]] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        had = {name: value or "" for name, value in attrs}
        if tag in {"a", "link"} and "href" in had:
            self.links[urljoin(self.url, had["href"])] = None
        if "data-suggestions" in had:
            query = urlencode({had["name"]: self.typed.get(had["name"], "")})
            self.links[f"{urljoin(self.url, had['data-suggestions'])}?{query}"] = None
        if tag == "form":
            action = urljoin(self.url, had.get("action") or self.url)
            if had.get("method", "get").lower() == "post":
                self.posts[action] = None
            else:
                self._form = action.partition("?")[0], {}
        elif tag == "input" and self._form and had.get("name"):
            required = self.typed.get(had["name"], "") if "required" in had else ""
            self._form[1][had["name"]] = had.get("value") or required

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self._form:
            action, fields = self._form
            self.links[f"{action}?{urlencode(fields)}"] = None
            self._form = None


@dataclass
class Crawl:
    """The result of following all links: answers by address, forms by page."""

    prefix: str
    client: httpx.Client
    typed: Mapping[str, str] = field(default_factory=dict)
    answers: dict[str, httpx.Response] = field(default_factory=dict)
    posts: dict[str, str] = field(default_factory=dict)
    foreign: set[str] = field(default_factory=set)

    def walk(self, start: str) -> None:
        """Follows every internal link, of one kind no more than SAME_KIND_MAX."""
        waiting, kinds = [start], Counter[str]()
        while waiting:
            url = waiting.pop(0).partition("#")[0]
            kind = re.sub(r"/[^/?]*\d[^/?]*|=[^&]*", "/*", url)
            if url in self.answers or kinds[kind] >= SAME_KIND_MAX:
                continue
            kinds[kind] += 1
            answer = self.answers[url] = self.client.get(url)
            if "html" in answer.headers.get("content-type", ""):
                page = Page(url, answer.text, self.typed)
                self.posts |= dict.fromkeys(page.posts, url)
                ours = [link for link in page.links if urlsplit(link).path.startswith(self.prefix)]
                self.foreign |= page.links.keys() - set(ours)
                waiting += ours
