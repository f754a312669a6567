"""A form that makes no sense decides nothing."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "address", ["/holds/99999999999999999999999/approve", "/holds/1/reconsider", "/switches/pause"]
)
@pytest.mark.parametrize(
    "form", ["reason=%00", "scope=vendor&vendor=%00&reason=x", "threshold_max=1e308&threshold_x=9" + "9" * 400, "%00=1"]
)
def test_a_form_that_makes_no_sense_decides_nothing_and_is_answered_in_words(world, browse, address, form):
    headers = {"content-type": "application/x-www-form-urlencoded"}
    answer = browse(world.app).post(address, content=form, headers=headers, follow_redirects=False)
    assert answer.status_code in {400, 404, 409}
    assert "<main" in answer.text
    assert world.app.paused() == []
