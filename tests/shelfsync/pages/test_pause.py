"""The page of pauses: what is paused, each with its own button, in a buyer's words."""

from __future__ import annotations

import re

STORES = ("store-001", "store-002")
BUTTON = r'action="/shelfsync/pages/switches/resume" class="inline">((?:<input[^>]*>)+)<button>Resume</button>'


def _paused(world):
    for store in STORES:
        world.erp.put(store, "a", "1.00")
    world.sync("full")
    for store in STORES:
        world.app.pause("vendor", store, why="stocktaking", who="ada")
    return world.app


def test_each_pause_has_a_button_that_resumes_it_alone(world, browse):
    pages = browse(_paused(world))
    forms = [
        dict(re.findall(r'name="(\w+)" value="([^"]*)"', inputs))
        for inputs in re.findall(BUTTON, pages.get("/switches").text)
    ]
    assert forms == [{"scope": "vendor", "vendor": store} for store in STORES]
    pages.post("/switches/resume", data=forms[0])
    assert re.findall(r"<tr><td>(store \S+)<td", pages.get("/switches").text) == ["store store-002"]
    pages.post("/switches/pause", data={"scope": "all", "reason": "wrong prices"})
    assert re.findall(r"<tr><td>(everything|store \S+)<td", pages.get("/switches").text) == [
        "everything",
        "store store-002",
    ]


def test_who_may_not_stop_sees_what_is_paused_without_a_button(world, browse):
    text = browse(_paused(world), may_stop=False).get("/switches").text
    assert ("<tr><td>store store-001<td" in text, "<form" in text) == (True, False)


def test_the_line_on_every_page_names_the_store_and_no_command(world, browse):
    app = _paused(world)
    pages = browse(app)
    assert "PAUSED: store store-001 is paused by ada since" in pages.get("/store?vendor=store-001").text
    app.resume("vendor", "store-002", why="done", who="ada")
    for path in ("/", "/products", "/switches", "/store?vendor=store-001"):
        text = pages.get(path).text
        assert ("store store-001 is paused by ada" in text, "shelfsync resume" in text) == (True, False), path
