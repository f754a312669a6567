"""Rows of another store stop a file only if that store has a file too."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from shelfsync.erp.rows_of_another_store import refuse
from shelfsync.errors import IncompleteExtractError

FILE = SimpleNamespace(name="stock_1.csv", vendor="1")


@pytest.mark.parametrize("named", [set(), {"store-1"}, {"store-1", "a supplier"}])
def test_its_own_rows_and_words_that_are_no_store_s_pass(named):
    refuse(FILE, named, "store-1", {"store-1", "store-2", None})


def test_the_other_store_is_named():
    with pytest.raises(IncompleteExtractError, match=r"stock_1.csv has rows of vendor 'store-2' .* that of '1'\."):
        refuse(FILE, {"store-1", "store-2"}, "store-1", {"store-1", "store-2"})
