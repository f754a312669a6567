"""`shelfsync alerts`: what it lists besides the alerts themselves."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow


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
