"""Every page of shelfsync inside Airflow, reached as a person reaches it: from the menu of Airflow, link by link."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urljoin, urlsplit

import httpx
import pytest

from installation.installed import clean_environment
from installation.process import run
from installation.state import Chain, sending_paused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from installation.installed import Installation

pytestmark = pytest.mark.slow

SAME_KIND_MAX = 8
"""Pages of one route that are opened: a list links to a page a row."""

OF_A_STATE = {"POST /store/end-restoration", "GET /drift/{number}.csv"}
"""Routes that a page leads to while a restoration is in force, or after an export that differs: tests/shelfsync/pages/test_store.py."""

ROUTES = """
import json
from shelfsync.pages.app import create_app
app = create_app(lambda: None, lambda: None)
print(json.dumps([[route.path, sorted(route.methods)] for route in app.routes if getattr(route, "methods", None)]))
"""


class Page(HTMLParser):
    """Links, forms and alerts of a page."""

    def __init__(self, url: str, text: str) -> None:
        super().__init__()
        self.url = url
        self.links: set[str] = set()
        self.posts: set[str] = set()
        self._form: tuple[str, dict[str, str]] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        had = {name: value or "" for name, value in attrs}
        if tag in {"a", "link"} and "href" in had:
            self.links.add(urljoin(self.url, had["href"]))
        elif tag == "form":
            action = urljoin(self.url, had.get("action") or self.url)
            if had.get("method", "get").lower() == "post":
                self.posts.add(action)
            else:
                self._form = action.partition("?")[0], {}
        elif tag == "input" and self._form and had.get("name"):
            self._form[1][had["name"]] = had.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self._form:
            action, fields = self._form
            self.links.add(f"{action}?{urlencode(fields)}")
            self._form = None


@dataclass
class Crawl:
    """The result of following all links: answers by address, forms by page."""

    prefix: str
    client: httpx.Client
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
                page = Page(url, answer.text)
                self.posts |= dict.fromkeys(page.posts, url)
                ours = {link for link in page.links if urlsplit(link).path.startswith(self.prefix)}
                self.foreign |= page.links - ours
                waiting += sorted(ours)


@pytest.fixture(scope="module")
def routes(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, set[str]]]:
    """What the pages' own application serves: (path, methods)."""
    folder = tmp_path_factory.mktemp("routes")
    done = run([sys.executable, "-c", ROUTES], {"PATH": clean_environment()["PATH"], "HOME": str(folder)}, folder)
    assert done.returncode == 0, done.stderr
    return [(path, set(methods)) for path, methods in json.loads(done.stdout)]


@pytest.fixture(scope="module")
def crawl(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawl]:
    """Every page, with at least one hold, promotion and order, and two promotions that one rule holds."""
    folder: Path = tmp_path_factory.mktemp("user")
    chain = Chain(installation, folder)
    with sending_paused(installation):
        chain.document("orders", "fulfil", chain.order("store-001"), "--as-ordered")
        chain.campaign("store-003", "0.8")
        chain.held_campaign("store-003")
        chain.held_campaign("store-001")
        chain.hold("store-002")
        views = [view for plugin in installation.get("/plugins")["plugins"] for view in plugin["external_views"]]
        (ours,) = [view["href"] for view in views if view["name"] == "shelfsync"]
        token = installation.airflow.headers["Authorization"].removeprefix("Bearer ")
        with httpx.Client(cookies={"_token": token}, timeout=60, trust_env=False) as client:
            found = Crawl("/" + ours.strip("/"), client)
            found.walk(f"{installation.airflow_url}/{ours.lstrip('/')}")
            yield found
        chain.tidy()


def test_every_link_leads_to_a_page_without_an_error(crawl: Crawl) -> None:
    assert len(crawl.answers) > 8
    for url, answer in crawl.answers.items():
        assert answer.status_code == 200, f"{url}: {answer.status_code} {answer.text[:500]}"
        assert "Traceback" not in answer.text, url
        is_page = answer.headers["content-type"].startswith("text/html")
        is_file = answer.headers["content-type"].startswith(("text/css", "text/csv"))
        assert is_page or is_file, f"{url} is {answer.headers['content-type']}"
        assert not is_page or answer.text.rstrip().endswith("</html>"), url


def test_a_page_links_to_runs_of_airflow_and_nowhere_else_out_of_the_pages(crawl: Crawl) -> None:
    runs = {link for link in crawl.foreign if re.fullmatch(r"/dags/catalog_\w+/runs/[^/]+", urlsplit(link).path)}
    assert crawl.foreign == runs


def test_every_form_is_sent_to_where_it_is_taken(crawl: Crawl) -> None:
    assert len(crawl.posts) >= 4
    for action, page in crawl.posts.items():
        answer = crawl.client.get(action)
        assert (answer.status_code, answer.headers.get("allow")) == (405, "POST"), f"the form of {page}: {action}"


def test_every_route_of_the_pages_is_reached_by_a_link_or_a_form(
    crawl: Crawl, routes: list[tuple[str, set[str]]]
) -> None:
    assert len(routes) > 10
    reached = {
        method: {urlsplit(url).path.removeprefix(crawl.prefix) for url in urls}
        for method, urls in (("GET", crawl.answers), ("POST", crawl.posts))
    }
    missing = [
        f"{method} {path}"
        for path, methods in routes
        for method in methods - {"HEAD"}
        if not any(re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), seen) for seen in reached[method])
    ]
    assert set(missing) <= OF_A_STATE


def test_without_a_login_no_page_is_shown(crawl: Crawl) -> None:
    with httpx.Client(timeout=60, trust_env=False) as stranger:
        for url, answer in crawl.answers.items():
            if answer.headers["content-type"].startswith("text/html"):
                assert stranger.get(url).status_code == 401, url
