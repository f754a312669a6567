"""The schedule of a day, by the same steps as the DAGs, and its results after faults."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import OperationalError

from partner_api.errors import PartnerError
from shelfsync.errors import ShelfsyncError

if TYPE_CHECKING:
    from collections.abc import Callable

    from app_calls import Calls
    from simulation.world import World

STEPS = ("normalise", "diff", "guard", "batch", "deliver", "wait", "confirm", "acknowledge")
EXPECTED = (ShelfsyncError, PartnerError, OperationalError)
"""What a task may fail with: it is tried again by the schedule. Anything else is a bug."""


@dataclass
class Going:
    """A run that has begun: the steps that are left, one list a shard."""

    run_id: int
    shards: list[list[str]]
    left: list[tuple[str, list[str]]] = field(default_factory=list)


def begin(app: Calls, kind: str, key: str, of: tuple[str, ...] = ()) -> Going:
    """check, open, recover and extract."""
    app.check((), fresh=kind == "full")
    run_id = app.open_run(kind, key, of)
    shards = [list(shard["vendors"]) for shard in app.extract(run_id)]
    going = Going(run_id, shards)
    going.left = [(word, shard) for word in STEPS for shard in shards]
    if not shards:
        app.report(run_id)
    return going


def go_on(app: Calls, going: Going) -> bool:
    """The next step of a run; False when there is none left."""
    if not going.left:
        return False
    word, vendors = going.left.pop(0)
    take(app, word, going.run_id, vendors)
    if not going.left:
        app.report(going.run_id)
    return True


def take(app: Calls, word: str, run_id: int, vendors: list[str]) -> None:
    """One step for some vendors; a step that fails as a task may fail is left to the schedule."""
    if word == "wait":
        app.wait(run_id, vendors)
    else:
        app.step(word, run_id, vendors)


def whole_run(
    world: World, app: Calls, kind: str, key: str, upto: str | None = None, of: tuple[str, ...] = ()
) -> Going:
    """A run from check to report, or as far as one step, of all vendors or `of` some; a step that fails is tried once more, as the scheduler would."""
    going = begin(app, kind, key, of)
    while going.left:
        word, vendors = going.left[0]
        try:
            go_on(app, going)
        except EXPECTED:
            world.clock.sleep(60)
            take(app, word, going.run_id, vendors)
        if word == upto and (not going.left or going.left[0][0] != word):
            break
    return going


def tolerated(work: Callable[[], object]) -> str | None:
    """Calls it. An error that a task may fail with becomes a line; any other is raised."""
    try:
        work()
    except EXPECTED as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"
    return None


def recover_until_quiescent(world: World, app: Calls) -> list[str | None]:
    """The settling schedule, beyond every deadline."""
    lines: list[str | None] = []
    found: list[dict[str, Any]] = []
    for pause_s in (300, 300, 300, 300, 1900):
        world.clock.sleep(pause_s)
        if lines and lines[-1] is None and not any(found[-1].values()):
            continue  # it had nothing to do and left nothing open
        lines.append(tolerated(lambda: found.append(app.recover())))
    return lines


def quiescent_rounds(world: World, app: Calls, rounds: int, kind: str = "delta") -> list[str]:
    """The schedule after the last fault: recovery and a run; returns the remaining failures in lines."""
    lines = []
    for _ in range(rounds):
        lines += recover_until_quiescent(world, app)
        key = f"quiescent/{kind}/{world.clock.monotonic_s()}"
        lines.append(tolerated(partial(whole_run, world, app, kind, key)))
    return [line for line in lines if line]
