from __future__ import annotations

import pytest

from shelfsync.cli.run_exit import run_error


@pytest.mark.parametrize(
    ("state", "code"), [("failed", 1), ("superseded", 6), ("partly", 9), ("partly_failed", 9), ("succeeded", None)]
)
def test_the_state_of_a_run_is_an_exit_code(state, code):
    ended = run_error({"state": state, "error": "2 of 2 vendors failed"})
    assert (None if ended is None else ended.exit_code) == code
