"""A route takes its severities and kinds, and that another route is away."""

from __future__ import annotations

from shelfsync.alerts.route_filter import ROUTE_AWAY, takes
from shelfsync.settings import AlertRoute
from shelfsync.settings.section import ServiceAddress


def route(**options) -> AlertRoute:
    return AlertRoute(name="ops", address=ServiceAddress("json://localhost"), **options)


def test_a_route_takes_its_severities_and_of_them_its_kinds_alone():
    assert [takes(route(), kind) for kind in ("disk", "store_failed", "rejected")] == [True, True, False]
    notices = route(severities=("notice",))
    assert [takes(notices, kind) for kind in ("disk", "rejected", "history")] == [False, True, True]
    assert takes(route(severities=("notice",), kinds=("rejected",)), "history") is False


def test_a_route_takes_whatever_it_takes_that_another_is_away_and_never_that_it_is_itself():
    pager = route(severities=("severe",), kinds=("disk",))
    assert takes(pager, ROUTE_AWAY, "chat")
    assert not takes(pager, ROUTE_AWAY, "ops")
