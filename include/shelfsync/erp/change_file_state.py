"""A file of changes as a reading left it: waiting, taken, quarantined, or to be taken again; and its place among the others.

A file that is not whole may rest for a minute before it is quarantined.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

REST_S = 60.0
"""A file that is not whole is quarantined once its size and time have stayed the same for so long."""


class FileState(StrEnum):
    """What became of a file: it is not whole yet; its rows have landed; it is quarantined; a person lets it be taken again."""

    WAITING = "waiting"
    TAKEN = "taken"
    QUARANTINED = "quarantined"
    AGAIN = "again"


DONE = (FileState.TAKEN, FileState.QUARANTINED)


@dataclass(frozen=True)
class ChangeFile:
    """A file as a reading left it. `sequence`: the vendor in its address, or empty; the names of one sequence are in the order of the changes.

    `rested`: it is waiting, and its stamp has been the same for REST_S.
    """

    path: str
    sequence: str
    stamp: str
    state: FileState
    reason: str | None = None
    rows: int = 0
    rested: bool = False

    @property
    def place(self) -> tuple[str, str]:
        """Its place in its sequence."""
        return place_of(self.path)


def place_of(path: str) -> tuple[str, str]:
    """The place of a file among others: by its name, whatever its folder."""
    return path.rsplit("/", 1)[-1], path


def without_a_row(path: str, sequence: str, stamp: str, known: ChangeFile | None, reason: str) -> ChangeFile:
    """What becomes of a file without a row: it waits until it has rested, then counts as taken."""
    rested = _has_rested(known, stamp)
    state = FileState.TAKEN if rested else FileState.WAITING
    return ChangeFile(path, sequence, stamp, state, reason, 0 if rested else _landed(known))


def not_whole(path: str, sequence: str, stamp: str, known: ChangeFile | None, reason: str) -> ChangeFile:
    """What becomes of a file that is cut, not ended or unreadable, or lacks a column: it waits until it has rested, then is quarantined."""
    state = FileState.QUARANTINED if _has_rested(known, stamp) else FileState.WAITING
    return ChangeFile(path, sequence, stamp, state, reason, _landed(known))


def _has_rested(known: ChangeFile | None, stamp: str) -> bool:
    return known is not None and known.rested and known.stamp == stamp


def _landed(known: ChangeFile | None) -> int:
    return known.rows if known is not None else 0
