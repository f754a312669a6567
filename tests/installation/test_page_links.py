"""Every page of shelfsync inside Airflow, reached as a person reaches it: from the menu of Airflow, link by link."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import pytest

from installation.state import Chain, sending_paused
from page_crawl import FILES, Crawl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from installation.installed import Installation

pytestmark = pytest.mark.slow


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
        (ours,) = [view["href"] for view in views if view["destination"] == "nav"]
        token = installation.airflow.headers["Authorization"].removeprefix("Bearer ")
        with httpx.Client(cookies={"_token": token}, timeout=60, trust_env=False) as client:
            found = Crawl("/" + ours.strip("/"), client, {"q": "1", "vendor": "store-001"})
            found.walk(f"{installation.airflow_url}/{ours.lstrip('/')}")
            yield found
        chain.tidy()


def test_every_link_leads_to_a_page_without_an_error(crawl: Crawl) -> None:
    assert len(crawl.answers) > 8
    for url, answer in crawl.answers.items():
        assert answer.status_code == 200, f"{url}: {answer.status_code} {answer.text[:500]}"
        assert "Traceback" not in answer.text, url
        is_page = answer.headers["content-type"].startswith("text/html")
        is_file = answer.headers["content-type"].startswith(FILES)
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


def test_without_a_login_no_page_is_shown(crawl: Crawl) -> None:
    with httpx.Client(timeout=60, trust_env=False) as stranger:
        for url, answer in crawl.answers.items():
            if answer.headers["content-type"].startswith("text/html"):
                assert stranger.get(url).status_code == 401, url
