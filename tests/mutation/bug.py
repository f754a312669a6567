"""The list of planted bugs (bugs.toml) and how one is put into a tree."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mutation.place import PlaceError, places

if TYPE_CHECKING:
    from mutation.place import Place

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("bugs.toml")


@dataclass(frozen=True)
class Edit:
    """Replaces `old` by `new` in the definition that `at` names. `old` occurs there exactly once.

    `at` is `module.function`, `module.Class.method`, `module.CONSTANT`, or `module` for a text outside all of them. No folder is part of it,
    so an anchor survives a move. If two modules have the same name and text, put the name of their folder in front.
    """

    at: str
    old: str
    new: str

    def place(self, tree: Path) -> Place:
        """The one place of this text; PlaceError if there is none or more than one."""
        named = places(tree, self.at)
        if not named:
            raise PlaceError(f"{self.at} is not there")
        fitting = [place for place in named if self.old in place.text]
        count = sum(place.text.count(self.old) for place in fitting)
        if count != 1:
            raise PlaceError(f"{self.at} has this text {count} times: {self.old.strip()!r}")
        return fitting[0]

    def trouble(self, tree: Path) -> str | None:
        """Why this cannot be planted, or None."""
        try:
            self.place(tree)
        except PlaceError as error:
            return str(error)
        return None


@dataclass(frozen=True)
class Bug:
    """`caught_by`: tests as `path::function`, every one of which fails when the bug is there."""

    name: str
    promise: str
    edits: tuple[Edit, ...]
    caught_by: tuple[str, ...]

    def planted(self, tree: Path) -> dict[Path, str]:
        """The text of each changed file with the bug in it; ValueError if a text does not occur exactly once."""
        changed: dict[Path, str] = {}
        found: list[tuple[int, Path, Edit]] = []
        troubles = []
        for edit in self.edits:
            try:
                place = edit.place(tree)
                found.append((place.start + place.text.index(edit.old), place.file, edit))
            except PlaceError as error:
                troubles.append(str(error))
        if troubles:
            raise ValueError(f"{self.name}: {'; '.join(troubles)}")
        for start, file, edit in sorted(
            found, key=lambda each: each[0], reverse=True
        ):  # from the end: earlier places stay
            text = changed.get(file) or file.read_text(encoding="utf-8")
            changed[file] = text[:start] + edit.new + text[start + len(edit.old) :]
        return changed

    def plant(self, tree: Path) -> dict[Path, str]:
        """Puts the bug into a tree; returns what the files held before."""
        planted = self.planted(tree)
        before = {file: file.read_text(encoding="utf-8") for file in planted}
        for file, text in planted.items():
            file.write_text(text, encoding="utf-8")
        return before


def bugs(listed: Path = LIST) -> list[Bug]:
    """All planted bugs in the order of the list."""
    entries = tomllib.loads(listed.read_text(encoding="utf-8"))["bug"]
    return [
        Bug(entry["name"], entry["promise"], tuple(Edit(**edit) for edit in entry["edit"]), tuple(entry["caught_by"]))
        for entry in entries
    ]


def table(of: list[Bug]) -> str:
    """Each bug with its promise and the tests that catch it, for `--table`."""
    rows = ["| planted bug | promise | caught by |", "|---|---|---|"]
    for bug in of:
        tests = ", ".join(f"`{test.split('::')[1]}`" for test in bug.caught_by)
        rows.append(f"| {bug.name} | {bug.promise} | {tests} |")
    return "\n".join(rows)
