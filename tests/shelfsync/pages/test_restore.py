"""A restoration is shown before it is ordered: two instants side by side, and an order of exactly what was shown."""

from __future__ import annotations

import re

import pytest

from restored_price import order_restoration

SHOWN = re.compile(r'name="shown" value="(\w+)"')


@pytest.mark.slow
def test_a_store_is_seen_as_it_was_and_then_restored(world, browse):
    then = order_restoration(world, dry_run=True)
    page = browse(world.app)
    asked = {"vendor": "store-001", "at": f"{then:%Y-%m-%dT%H:%M:%S.%f}", "hours": "12", "sku": "", "category": ""}
    text = page.get("/store/restore", params=asked).text
    assert "2 products would change" in text
    assert re.search(r'sku=a">a</a><td>[^<]*<td class="n">5.66<td class="n">5.18<td>yes<td>yes', text)
    assert world.app.status()["restorations"] == [], "nothing is done before it is ordered"
    order = {**asked, "shown": SHOWN.search(text)[1]}
    assert page.post("/store/restore", data=order).status_code == 400, "no reason"
    stale = page.post("/store/restore", data={**order, "shown": "old", "reason": "wrong file"})
    assert (stale.status_code, "nothing was done" in stale.text) == (409, True)
    assert world.app.status()["restorations"] == []
    done = page.post("/store/restore", data={**order, "reason": "wrong file"}, follow_redirects=False)
    assert (done.status_code, done.headers["location"]) == (303, "/shelfsync/pages/store?vendor=store-001")
    (line,) = world.app.status()["restorations"]
    assert line.endswith("by ada: wrong file")
    again = page.post("/store/restore", data={**order, "reason": "wrong file"})
    assert again.status_code == 409, "a second click orders nothing"
    assert len(world.app.status()["restorations"]) == 1
    store = page.get("/store", params={"vendor": "store-001"}).text
    assert 'href="/shelfsync/pages/store/restore?vendor=store-001"' in store
    assert browse(world.app, may_decide=False).post("/store/restore", data=order).status_code == 403


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"at": "soon"}, "is no instant"),
        ({"hours": "9"}, "can last"),
        ({"sku": "a", "category": "b"}, "not both"),
        ({"vendor": "nowhere"}, "nothing was acknowledged"),
        ({"at": "2999-01-01T00:00"}, "in the past"),
    ],
)
def test_what_cannot_be_restored_is_a_sentence_on_the_page(world, browse, more, sentence):
    asked = {"vendor": "store-001", "at": "2020-01-01T00:00", "hours": "4"} | more
    page = browse(world.app)
    answer = page.get("/store/restore", params=asked)
    assert (answer.status_code, sentence in answer.text) == (200, True)
    assert ("restore:" in answer.text, "--at" in answer.text) == (False, False), "no word of the command line"
    ordered = page.post("/store/restore", data={**asked, "reason": "x"})
    assert (ordered.status_code, sentence in ordered.text, "restore:" in ordered.text) == (400, True, False)
