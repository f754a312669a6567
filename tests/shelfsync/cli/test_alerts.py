"""`shelfsync alerts`: what it lists besides the alerts themselves."""

from __future__ import annotations

import json
import shlex

import pytest

from shelfsync.alerts.ledger import alerts
from shelfsync.alerts.message import Due, body
from shelfsync.store.engine import create_engine

pytestmark = pytest.mark.slow


def test_the_command_of_a_message_takes_on_every_alert_of_it(here, database_url):
    assert here("pause", "--all", "--reason", "stocktaking")[0] == 0
    engine = create_engine(database_url)
    late = {("store_late", f"store-{number:03}"): "late" for number in range(17)}
    with engine.begin() as connection:
        alerts.keep(connection, ("store_late",), late)
        due = [
            Due(
                row["alert_id"],
                row["alert_id"],
                "opened",
                row["kind"],
                row["subject"],
                row["message"],
                row["opened_at"],
                None,
            )
            for row in alerts.open_alerts(connection)
        ]
    engine.dispose()
    (line,) = (line for line in body(due, link=None).splitlines() if line.startswith("Take it on: "))
    code, printed, _ = here(*shlex.split(line)[4:], "--user", "ada")
    assert (code, printed.count("is yours, ada")) == (0, 17)
    assert "was acknowledged by ada" in here("alerts", "acknowledge", "3", "--user", "bob")[1]
    assert here("alerts", "acknowledge", "17", "18")[0] == 4
    for wrong in ("three", "19-3", "1-99999", "3-", "-1"):
        assert here("alerts", "acknowledge", wrong)[0] == 2


def test_what_is_muted_is_listed_with_its_end_person_and_reason(here):
    assert here("alerts", "mute", "disk", "--duration", "1h", "--reason", "it is extended", "--user", "bob")[0] == 0
    assert here("pause", "--all", "--reason", "stocktaking")[0] == 0
    assert here("alerts", "watch")[0] == 0
    assert here("alerts", "mute", "paused", "--duration", "1h", "--reason", "we know", "--user", "ada")[0] == 0
    _, printed, _ = here("alerts", "list")
    assert "disk is muted until " in printed
    assert " by bob: it is extended" in printed
    _, printed, _ = here("alerts", "list", "--json")
    assert [(row["kind"], row["who"], row["why"]) for row in json.loads(printed)["data"]["muted"]] == [
        ("disk", "bob", "it is extended"),
        ("paused", "ada", "we know"),
    ]
    _, printed, _ = here("alerts", "show", "1")
    assert " by ada: we know" in printed
    assert "it is extended" not in printed


def test_a_route_is_tried_and_a_watch_that_does_not_run_is_named(run):
    """Else a route that takes the test gets no other message, and nobody knows."""
    routes = json.dumps([{"name": "ops", "address": "json://127.0.0.1:1"}])
    tried = run("alerts", "test", SHELFSYNC_ALERTS__ROUTES=routes)
    assert tried.stdout.startswith("route ops: refused: ")
    assert "no watch has looked at what is wrong yet. Switch the DAG alerts_watch on" in tried.stdout
    assert run("alerts", "watch").returncode == 0
    assert "the watch looked last" not in run("alerts", "test", SHELFSYNC_ALERTS__ROUTES=routes).stdout
