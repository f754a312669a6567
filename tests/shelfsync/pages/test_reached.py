"""Every page, file and form is reached from the first page, by links and forms alone, and a link leads to no error."""

from __future__ import annotations

import datetime as dt
import re
from urllib.parse import urlsplit

import pytest

from page_crawl import FILES, Crawl
from page_paths import FORMS, PATHS
from shown_chain import SETTINGS, fill

PREFIX = "/shelfsync/pages"
EVENT = (
    "INSERT INTO inbox.event (kind, identity, vendor, body, processed_at, quarantine_reason)"
    " VALUES ('order', '3', 'store-001', '{}', now(), 'it has no items')"
)


def _decide(world, pages) -> dt.datetime:
    """A hold is declined and another one open, an event is set aside, a product restored. Returns the instant of what is restored."""
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(EVENT)
    assert pages.post("/holds/1/decline", data={"reason": "a slip"}, follow_redirects=False).status_code == 303
    then = world.app.explain("store-001", "a4").at
    world.erp.put("store-001", "a4", "1.05")
    for number in range(4):
        world.erp.put("store-002", f"a{number}", "900.00")
    world.sync("delta")
    hour = dt.timedelta(hours=1)
    world.app.restore("store-001", at=then, span=hour, skus=["a4"], why="a wrong list", who="ada", dry_run=False)
    return then


@pytest.mark.slow
def test_every_route_is_reached_by_a_link_or_a_form(make_world, browse):
    world = make_world(**SETTINGS)
    fill(world)
    pages = browse(world.app)
    then = _decide(world, pages)
    typed = {"q": "a", "vendor": "store-001", "at": f"{then:%Y-%m-%dT%H:%M:%S.%f}"}
    crawl = Crawl(PREFIX, pages, typed)
    crawl.walk(f"http://testserver{PREFIX}/")
    for url, answer in crawl.answers.items():
        assert answer.status_code == 200, f"{url}: {answer.text[:500]}"
        assert answer.headers["content-type"].startswith(("text/html", *FILES)), url
    for known, seen in (({*PATHS} - {"/{}", "/from-airflow"}, crawl.answers), (FORMS, crawl.posts)):
        reached = {urlsplit(url).path.removeprefix(PREFIX) for url in seen}
        missing = [path for path in known if not any(re.fullmatch(path.replace("{}", "[^/]+"), one) for one in reached)]
        assert missing == []
