"""Persons' answers about holds, from the page, the command line and Airflow's question, and what must become of each.

An answer is about what the person saw. If the hold was decided or reopened since, the answer does nothing, and the ledger keeps it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shelfsync.decisions.ledger import holds
from shelfsync.decisions.state import Place
from shelfsync.decisions.steps import decide
from shelfsync.decisions.steps.question import question
from simulation.broken import Broken

if TYPE_CHECKING:
    from app_calls import Calls
    from simulation.world import World

PLACES = (Place.PAGE, Place.COMMAND, Place.AIRFLOW)
CARRIED = re.compile(r"still what hold (\d+) held")
OPEN = "SELECT state, acts, superseded_by FROM ledger.hold WHERE hold_id = :n"


@dataclass(frozen=True)
class Seen:
    """A hold as a person saw it in one place."""

    hold_id: int
    place: Place
    acts: int
    """How many decisions and reopenings it had then."""
    mark: str | None = None
    asked_by: str | None = None


class Answers:
    """The answers of one world since its reset."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._given: dict[str, Seen] = {}
        self.seen: list[Seen] = []
        """What persons still have before them: an open page, an open question."""

    def see(self, app: Calls, hold_id: int, place: Place, key: str) -> Seen:
        """Shows a hold to a person. `key`: the run of Airflow that asks about all that is unasked."""
        if place is Place.AIRFLOW:
            app.holds.ask(key)
        with app.context.engine.connect() as connection:
            hold = holds.read(connection, hold_id)
        assert hold is not None, "no open or declined hold is removed"
        mark = None if place is Place.AIRFLOW else hold.mark
        asked_by = hold.asked_by if place is Place.AIRFLOW else None
        return Seen(hold_id, place, hold.acts, mark, asked_by)

    def give(self, app: Calls, seen: Seen, *, approve: bool, who: str) -> bool:
        """A person answers; returns whether that decided the hold."""
        self._given[who] = seen
        before = self._state(seen.hold_id)
        result = decide.decide(
            app.context,
            seen.hold_id,
            approve=approve,
            who=who,
            place=seen.place,
            why="simulated",
            shown=seen.mark,
            asked_by=seen.asked_by,
        )
        after = self._state(seen.hold_id)
        kept = self._world.rows("SELECT ignored FROM ledger.decision WHERE decided_by = :w", w=who)
        if [row.ignored is None for row in kept] != [result["decided"]]:
            raise Broken("decision", f"the answer of {who} was {result}, and the ledger has it {len(kept)} times")
        if before == after == ("open", seen.acts, None) and seen.asked_by is None:
            raise Broken("decision", f"{who} answered the open hold {seen.hold_id}, and nothing was done: {result}")
        if seen.asked_by and after[1] != seen.acts:
            left = question(app.context, seen.hold_id, key=seen.asked_by, pages=None)
            if left is not None:
                raise Broken(
                    "decision", f"hold {seen.hold_id} is decided, and Airflow goes on asking: {left['subject']}"
                )
        return bool(result["decided"])

    def check(self) -> None:
        """No answer decided what its person had not seen. What a newer extract leaves of a decided hold is decided as that hold was."""
        acts: dict[int, int] = {}
        answered: set[tuple[int, str]] = set()
        rows = self._world.rows(
            "SELECT hold_id, decided_by, place, why, ignored FROM ledger.decision ORDER BY decision_id"
        )
        for row in rows:
            seen = self._given.get(row.decided_by)
            done = acts.setdefault(row.hold_id, 0)
            if row.ignored is None:
                answered.add((row.hold_id, row.decided_by))
            if seen is not None and row.place == Place.SHELFSYNC:
                before = CARRIED.fullmatch(row.why or "")
                if before is None or (int(before[1]), row.decided_by) not in answered:
                    raise Broken("decision", f"nobody took {row} before, and shelfsync did")
                acts[row.hold_id] = done + 1
                continue
            if seen is not None and (row.hold_id, row.place) != (seen.hold_id, seen.place):
                raise Broken("decision", f"the answer of {row.decided_by} about {seen} is kept as {row}")
            if row.ignored is not None:
                continue
            if seen is not None and seen.acts != done:
                raise Broken("decision", f"{row.decided_by} saw {seen}, and decided it after {done} decisions")
            acts[row.hold_id] = done + 1

    def _state(self, hold_id: int) -> tuple[Any, ...]:
        return tuple(self._world.rows(OPEN, n=hold_id)[0])
