"""How a chain is, in one sentence, whatever is wrong with it."""

from __future__ import annotations

import pytest

from shelfsync.chain_states import state_of
from shelfsync.errors import ConfigurationError
from shelfsync.secret_mask import mask


@pytest.mark.parametrize(
    "error",
    [ConfigurationError("X", "no key-of-north-0123", "Set it."), ValueError("key-of-north-0123"), KeyError("x")],
)
def test_a_chain_that_cannot_be_read_says_why_without_a_secret(error):
    def opened():
        raise error

    mask.add(["key-of-north-0123"])
    state = state_of("north", opened)
    assert (state.chain, state.readable) == ("north", False)
    assert state.sentence.startswith("It cannot be read: ")
    assert "key-of-north" not in state.sentence
