"""Which chain is asked for where none is named, or one that is not there."""

from __future__ import annotations

import pytest

from shelfsync.errors import ConfigurationError
from shelfsync.required_chain import require_chain


def test_a_chain_has_to_be_named_only_where_there_are_several():
    require_chain(None, ())
    require_chain("north", ("demo", "north"))
    with pytest.raises(ConfigurationError, match=r"has the chains demo, north, and none is named. Add --chain demo\.$"):
        require_chain(None, ("demo", "north"))
    with pytest.raises(ConfigurationError, match=r"has one chain, without a name"):
        require_chain("north", ())


def test_an_unknown_chain_is_answered_with_the_most_similar_one():
    with pytest.raises(
        ConfigurationError, match=r"has the chains demo, north\. Did you mean north\? Add --chain north\.$"
    ):
        require_chain("nort", ("demo", "north"))
    with pytest.raises(ConfigurationError, match=r"has the chains demo, north\. Add --chain demo\.$"):
        require_chain("xyz", ("demo", "north"))
