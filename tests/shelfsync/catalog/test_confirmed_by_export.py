"""A value without an outcome is confirmed by a later export that shows it."""

from __future__ import annotations

import pytest

from shelfsync.catalog.confirmed_by_export import is_confirmed

CONFIRMED = {"sent": "1.25", "shown": "1.25", "outcome": "unaccounted", "unconfirmed": True, "late": False}


def test_an_export_that_shows_what_was_sent_last_confirms_it():
    assert is_confirmed(**CONFIRMED)


@pytest.mark.parametrize(
    "otherwise",
    [
        {"shown": "1.26"},
        {"shown": None},
        {"sent": None, "shown": None},
        {"outcome": "rejected"},
        {"unconfirmed": False},
        {"late": True},
    ],
    ids=str,
)
def test_nothing_else_confirms_it(otherwise):
    assert not is_confirmed(**CONFIRMED | otherwise)
