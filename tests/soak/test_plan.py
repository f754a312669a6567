"""The plan of a soak: the same for the same seed, and nothing is left out of a day."""

from __future__ import annotations

import httpx
from hypothesis import given
from hypothesis import strategies as st

from soak.faults import UNUSED, rules
from soak.plan import EVERY_S, VICTIMS, plan

SEEDS = st.integers(0, 10**6)


@given(SEEDS, st.floats(1, 30))
def test_one_seed_decides_when_what_happens_and_what_is_closed_opens_again(seed: int, minutes: float) -> None:
    events = plan(seed, minutes)
    assert events == plan(seed, minutes)
    assert all(0 < event.at_s < minutes * 60 for event in events)
    for closing in [event for event in events if event.action == "close"]:
        (again,) = [event for event in events if (event.action, event.number) == ("open", closing.number)]
        assert again.at_s >= closing.at_s or again.at_s == minutes * 60 - 1


@given(SEEDS)
def test_in_twenty_minutes_everything_happens_and_every_process_dies_twice(seed: int) -> None:
    events = plan(seed, 20)
    assert {event.action for event in events} == {"open"}.union(*EVERY_S.values())
    killed = [event.subject for event in events if event.action == "kill"]
    assert all(killed.count(victim) >= 2 for victim in VICTIMS)


def test_within_twenty_minutes_every_kind_of_fault_comes_and_the_platform_takes_each(sandbox) -> None:
    control = httpx.Client(base_url=f"{sandbox.base_url}/_sandbox", trust_env=False)
    kinds = control.get("/faults").json()["kinds"]
    number = len([event for event in plan(1, 20) if event.action == "faults"])
    seen = set()
    for turn in range(number):
        made = rules(1, turn, kinds)
        assert made == rules(1, turn, kinds)
        assert control.put("/faults", json={"rules": made}).is_success, made
        assert not UNUSED & {rule["at"] for rule in made}
        seen |= {"status_NNN" if rule["kind"].startswith("status_") else rule["kind"] for rule in made}
    assert seen == {kind["kind"] for kind in kinds}
    control.close()
