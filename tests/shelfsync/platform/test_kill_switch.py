from __future__ import annotations

import sqlalchemy as sa

from shelfsync.chosen_chain import chosen
from shelfsync.platform import kill_switch


def _turn(engine, scope, name="", *, stopped=True, why="prices are wrong", who="ada"):
    with engine.begin() as connection:
        kill_switch.turn(connection, scope, name, stopped=stopped, why=why, who=who)


def _stopped(engine, vendor, chain=None):
    with engine.connect() as connection:
        return kill_switch.stopped(connection, vendor, chain=chain)


def test_nothing_is_stopped_until_an_operator_stops_it(engine):
    assert _stopped(engine, "store-001") is None
    assert _stopped(engine, None) is None


def test_a_vendors_switch_stops_that_vendor_alone(engine):
    _turn(engine, "vendor", "store-001")
    assert _stopped(engine, "store-001").who == "ada"
    assert _stopped(engine, "store-002") is None
    assert _stopped(engine, None) is None


def test_a_chains_switch_stops_every_vendor_of_it_and_of_no_other_chain(engine):
    _turn(engine, "chain", "north")
    assert _stopped(engine, "store-001", "north").scope == "chain"
    assert _stopped(engine, "store-001", "south") is None
    assert _stopped(engine, None, "north") is not None
    assert _stopped(engine, "store-001") is not None, "who does not know its chain is stopped rather than let go"


def test_the_widest_switch_is_the_one_that_is_reported(engine):
    _turn(engine, "vendor", "store-001", why="one")
    _turn(engine, "chain", "north", why="chain")
    assert _stopped(engine, "store-001", "north").why == "chain"
    _turn(engine, "all", why="all")
    assert _stopped(engine, "store-001", "north").why == "all"


def test_resuming_one_leaves_the_others_stopped(engine):
    _turn(engine, "all")
    _turn(engine, "vendor", "store-001")
    _turn(engine, "all", stopped=False)
    assert _stopped(engine, "store-001").scope == "vendor"
    assert _stopped(engine, "store-002") is None


def test_every_turn_is_kept_with_its_person_reason_and_time(engine):
    _turn(engine, "vendor", "store-001", why="first", who="ada")
    _turn(engine, "vendor", "store-001", stopped=False, why="checked", who="bob")
    _turn(engine, "vendor", "store-001", why="again", who="cy")
    with engine.connect() as connection:
        turns = kill_switch.history(connection)
    assert [(turn["who"], turn["why"], turn["stopped"]) for turn in turns] == [
        ("cy", "again", True),
        ("bob", "checked", False),
        ("ada", "first", True),
    ]


def test_a_stop_lives_at_the_time_of_its_session(engine):
    with engine.begin() as connection:
        connection.execute(sa.text("SELECT set_config('shelfsync.instant', '2031-01-01T00:00:00Z', true)"))
        kill_switch.turn(connection, "all", "", stopped=True, why="later", who="ada")
    assert _stopped(engine, "x").turned_at.year == 2031


def test_a_stop_reports_who_when_why_and_how_it_ends(engine):
    _turn(engine, "vendor", "store-001", why="the till is broken", who="ada")
    lines = str(_stopped(engine, "store-001"))
    assert all(word in lines for word in ("store-001", "ada", "the till is broken", "shelfsync resume store-001"))


def test_a_stop_names_the_command_of_the_chosen_chain(engine):
    _turn(engine, "vendor", "store-001", why="the till is broken", who="ada")
    with chosen("north"):
        assert "`shelfsync --chain north resume store-001`" in str(_stopped(engine, "store-001"))
