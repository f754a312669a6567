"""What the schedule does in a day, by the same steps as the DAGs, and what comes of it when something goes wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError

from partner_api.errors import PartnerError
from shelfsync.errors import ShelfsyncError
from shelfsync.flow import wait

if TYPE_CHECKING:
    from collections.abc import Callable

    from shelfsync.wiring import House
    from simulation.world import World

STEPS = ("normalise", "diff", "guard", "batch", "deliver", "wait", "confirm", "acknowledge")
ROUND = ("wait", "confirm", "acknowledge")
"""What the DAG does twice more for vendors with several bodies."""
EXPECTED = (ShelfsyncError, PartnerError, DBAPIError)
"""What a task may fail with: it is tried again by the schedule. Anything else is a bug."""
LOOKS_MAX = 400


@dataclass
class Going:
    """A run that has begun: the steps that are left, one list a shard."""

    run_id: int
    shards: list[list[str]]
    left: list[tuple[str, list[str]]] = field(default_factory=list)


def begin(house: House, kind: str, key: str) -> Going:
    """check, open, extract."""
    house.check((), fresh=kind == "full")
    run_id = house.open_run(kind, key)
    shards = [list(shard["vendors"]) for shard in house.extract(run_id)]
    going = Going(run_id, shards)
    going.left = [(word, shard) for word in (*STEPS, *ROUND, *ROUND) for shard in shards]
    return going


def go_on(world: World, house: House, going: Going) -> bool:
    """The next step of a run; False when there is none left."""
    if not going.left:
        return False
    word, vendors = going.left.pop(0)
    take(world, house, word, going.run_id, vendors)
    if not going.left:
        house.report(going.run_id)
    return True


def take(world: World, house: House, word: str, run_id: int, vendors: list[str]) -> None:
    """One step for some vendors; a step that fails as a task may fail is left to the schedule."""
    if word == "wait":
        until_settled(world, house, run_id, vendors)
    else:
        house.step(word, run_id, vendors)


def until_settled(world: World, house: House, run_id: int, vendors: list[str]) -> None:
    """The wait of flow.wait with virtual pauses: it looks, asks those that are due, and sleeps."""
    end_s = world.clock.monotonic_s() + house.parts.settings.sync.job_deadline_s + wait.GRACE_S
    for _ in range(LOOKS_MAX):
        left = wait.waiting(house.parts, run_id, vendors)
        if not left or world.clock.monotonic_s() >= end_s:
            return
        due = [job for job in left if job.poll_due]
        for job in due:
            wait.ask(house.parts, job)
        if not due:
            pauses_s = (max(0.1, min(job.wait_s, job.left_s)) for job in left)
            house.parts.clock.sleep(min([wait.LOOK_AGAIN_S, *pauses_s]))
    raise AssertionError(f"I15: the wait of run {run_id} has not ended after {LOOKS_MAX} looks")


def whole_run(world: World, house: House, kind: str, key: str, upto: str | None = None) -> Going:
    """A run from check to report, or as far as one step; a step that fails is tried once more, as the scheduler would."""
    going = begin(house, kind, key)
    while going.left:
        word, vendors = going.left[0]
        try:
            go_on(world, house, going)
        except EXPECTED:
            world.clock.sleep(60)
            take(world, house, word, going.run_id, vendors)
        if word == upto and (not going.left or going.left[0][0] != word):
            break
    return going


def tolerated(work: Callable[[], object]) -> str | None:
    """Does it; what a task may fail with is told in a line, anything else is raised."""
    try:
        work()
    except EXPECTED as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"
    return None


def settle_down(world: World, house: House) -> list[str | None]:
    """The settling schedule, beyond every deadline."""
    told = []
    for pause_s in (300, 300, 300, 300, 1900):
        world.clock.sleep(pause_s)
        told.append(tolerated(house.settle))
    return told


def quiet_rounds(world: World, house: House, rounds: int, kind: str = "delta") -> list[str]:
    """The schedule when nothing goes wrong any more: settling and a run; what still failed, in lines."""
    told = []
    for _ in range(rounds):
        told += settle_down(world, house)
        key = f"quiet/{kind}/{world.clock.monotonic_s()}"
        told.append(tolerated(partial(whole_run, world, house, kind, key)))
    return [line for line in told if line]
