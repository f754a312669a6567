"""Which file of changes is taken next, in the order of the names, which one comes too late, and which rest behind one that waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from shelfsync.erp.change_file_state import DONE, ChangeFile, FileState, place_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shelfsync.erp.address import FoundFile
    from shelfsync.erp.changes_query import Changes


class Take(Protocol):
    """Hands on the rows of a file of a sequence, and returns what became of it. `known`: as an earlier reading left it."""

    def __call__(self, file: FoundFile, sequence: str, known: ChangeFile | None, changes: Changes, /) -> ChangeFile:
        """Takes it."""


def take_in_order(sequence: str, files: Sequence[FoundFile], changes: Changes, take: Take, *, dumped: bool) -> None:
    """Takes the files of a sequence, in the order of their names, up to the first one that waits. `dumped`: all rows are those of a dump."""
    mine = [known for known in changes.files.values() if known.sequence == sequence]
    last = max((known.place for known in mine if _has_landed(known)), default=None)
    for number, file in enumerate(files, 1):
        known = changes.files.get(file.path)
        if known is not None and known.state in DONE and known.stamp == file.listed:
            continue
        if last is not None and place_of(file.path) < last:
            why = _why_late(last[1], changed=known is not None and known.state in DONE, dumped=dumped)
            rows = known.rows if known is not None else 0
            one = ChangeFile(file.path, sequence, file.listed, FileState.QUARANTINED, why, rows)
        else:
            one = take(file, sequence, known, changes)
        changes.files[file.path] = one
        if one.state == FileState.WAITING:
            _rest_behind(one, files[number:], changes)
            return
        if _has_landed(one):
            last = one.place if last is None else max(last, one.place)


def _why_late(last: str, *, changed: bool, dumped: bool) -> str:
    why = f"it {'changed' if changed else 'came'} after {last!r} was taken, whose name is behind its own, so its rows may be older"
    if changed:
        return why
    remedy = (
        "see docs/how-to/reading-changes.md#a-name-that-sorts-too-high"
        if dumped
        else "remove it and run `shelfsync sync --full`"
    )
    return f"{why}; if the name of that file is wrong, {remedy}"


def _rest_behind(first: ChangeFile, files: Sequence[FoundFile], changes: Changes) -> None:
    """Files behind one that waits are not read, but they rest with it: several that are not whole take no longer than one."""
    for file in files:
        known = changes.files.get(file.path)
        if known is None or (known.state == FileState.WAITING and known.stamp != file.listed):
            why = f"it is behind {first.path!r}, which waits"
            landed = 0 if known is None else known.rows
            changes.files[file.path] = ChangeFile(
                file.path, first.sequence, file.listed, FileState.WAITING, why, landed
            )


def _has_landed(known: ChangeFile) -> bool:
    """Whether a file with an earlier name comes too late: rows of this one, or newer ones, are in place.

    One that is quarantined and never gave a row keeps no other out, whatever its name. Of one that a person lets be taken again the rows do
    not count until then.
    """
    return known.state == FileState.TAKEN or (known.rows > 0 and known.state != FileState.AGAIN)
