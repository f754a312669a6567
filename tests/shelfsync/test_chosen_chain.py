"""Which chain a process and a block work for, and which names are without it."""

from __future__ import annotations

from shelfsync import chosen_chain
from shelfsync.chosen_chain import chain_in_use, choose, chosen, of_chain, variables_of


def test_a_block_has_its_chain_and_the_process_its_own_again(monkeypatch):
    monkeypatch.setenv("SHELFSYNC_CHAIN", "south")
    assert chain_in_use() == "south"
    choose("north")
    with chosen("west"):
        assert chain_in_use() == "west"
    assert chain_in_use() == "north"


def test_the_chain_that_was_alone_keeps_its_names(monkeypatch):
    monkeypatch.setattr(chosen_chain, "_alone", [lambda: "demo"])
    names = {name: of_chain("catalog_holds", name) for name in (None, "demo", "north")}
    assert names == {None: "catalog_holds", "demo": "catalog_holds", "north": "catalog_holds__north"}
    assert variables_of("south_2") == "SHELFSYNC_CHAINS__SOUTH_2__"
