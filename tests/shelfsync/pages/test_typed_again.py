"""A form that is refused keeps what was typed."""

from __future__ import annotations

import re

import pytest

from shelfsync.pages.typed_again import Again, typed_again


def test_what_a_person_typed_is_typed_again_and_the_rest_is_kept():
    form = {"scope": "chain", "threshold_move": "a half", "reason": "stocktaking", "newest": "7"}
    typed = (("threshold_move", "share by which a price has to move", "a half"), ("reason", "reason", "stocktaking"))
    assert typed_again(form) == Again(typed, {"scope": "chain", "newest": "7"})


def test_a_field_that_was_left_empty_is_asked_for():
    assert typed_again({"scope": "vendor"}).typed == (("vendor", "store", ""), ("reason", "reason", ""))


@pytest.mark.parametrize(
    ("form", "corrected"),
    [
        ({"scope": "vendor", "vendor": "store-1", "reason": "fire at the store"}, {"vendor": "store-001"}),
        ({"scope": "vendor", "reason": "fire at the store"}, {"vendor": "store-001"}),
        ({"scope": "vendor", "vendor": "store-001"}, {"reason": "fire at the store"}),
    ],
)
def test_a_pause_that_was_refused_is_corrected_and_sent_again(world, browse, form, corrected):
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")
    pages = browse(world.app)
    refused = pages.post("/switches/pause", data=form)
    assert refused.status_code == 400
    (action,) = re.findall(r'<form method="post" action="/shelfsync/pages(/[^"]*)">', refused.text)
    fields = dict(re.findall(r'<input [^>]*name="(\w+)"[^>]* value="([^"]*)">', refused.text))
    assert fields == {**dict.fromkeys(("vendor", "reason"), ""), **form}
    again = pages.post(action, data={**fields, **corrected})
    assert again.status_code == 200
    assert "fire at the store" in again.text


def test_what_no_person_may_do_is_not_offered_again(world, browse):
    refused = browse(world.app, may_stop=False).post("/switches/pause", data={"scope": "all", "reason": "x"})
    assert (refused.status_code, "<form" in refused.text) == (403, False)
