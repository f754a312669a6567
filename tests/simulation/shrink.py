"""The least that still fails: actions are left out in ever smaller pieces (delta debugging)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.plan import Action, Plan

TRIES_MAX = 120


def shrunk(of: Plan, broken: str, fails_as: Callable[[Plan], str | None]) -> Plan:
    """The smallest plan found in TRIES_MAX tries that breaks the same invariant."""
    kept = list(of.actions)
    pieces, tries = 2, 0
    while len(kept) > 1 and pieces <= len(kept) and tries < TRIES_MAX:
        size = -(-len(kept) // pieces)
        for start in range(0, len(kept), size):
            fewer = kept[:start] + kept[start + size :]
            tries += 1
            if fewer and fails_as(_with(of, fewer)) == broken:
                kept, pieces = fewer, max(pieces - 1, 2)
                break
        else:
            if size == 1:
                break
            pieces = min(pieces * 2, len(kept))
    return _with(of, kept)


def _with(of: Plan, actions: list[Action]) -> Plan:
    return dataclasses.replace(of, actions=tuple(actions))
