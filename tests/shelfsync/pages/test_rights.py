"""The rights to look, decide and stop are apart, and a form counts from these pages alone."""

from __future__ import annotations

import pytest
from fastapi import HTTPException, Request

from shelfsync.pages.rights import Viewer, decider


def _request(may_decide: bool, **headers: str) -> Request:
    encoded = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    request = Request({"type": "http", "headers": encoded, "state": {}})
    request.state.viewer = Viewer("ada", may_decide=may_decide)
    return request


@pytest.mark.parametrize(
    "headers",
    [
        {"sec_fetch_site": "same-origin"},
        {"host": "airflow.test", "origin": "https://airflow.test"},
    ],
)
def test_a_decision_from_one_of_our_pages_is_taken(headers):
    assert decider(_request(True, **headers)).name == "ada"


@pytest.mark.parametrize(
    "headers",
    [
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"host": "airflow.test", "origin": "https://evil.test"},
        {"host": "airflow.test", "origin": "null"},
        {"host": "airflow.test"},
        {},
    ],
)
def test_a_decision_from_another_site_is_rejected(headers):
    with pytest.raises(HTTPException, match="not sent from a page of this server"):
        decider(_request(True, **headers))


def test_a_user_who_may_only_look_cannot_decide():
    with pytest.raises(HTTPException, match="may look here but not decide"):
        decider(_request(False, sec_fetch_site="same-origin"))


def test_the_right_to_decide_and_the_right_to_stop_are_independent(world, browse):
    decider_only, stopper_only = browse(world.app, may_stop=False), browse(world.app, may_decide=False)
    form = {"scope": "all", "reason": "because"}
    answer = decider_only.post("/switches/pause", data=form, follow_redirects=False)
    assert answer.status_code == 403
    assert "may look here but not stop" in answer.text
    assert "<form" not in decider_only.get("/switches").text
    assert world.app.paused() == []
    assert stopper_only.post("/switches/pause", data=form, follow_redirects=False).status_code == 303
    assert len(world.app.paused()) == 1
    assert stopper_only.post("/holds/1/approve", data={}).status_code == 403
    assert "(may look and decide)" in decider_only.get("/").text
