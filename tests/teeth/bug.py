"""The list of planted bugs (bugs.toml) and how one is put into a tree."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("bugs.toml")


@dataclass(frozen=True)
class Edit:
    """A text that stands in a file exactly once, and what stands there instead when the bug is planted."""

    file: str
    old: str
    new: str

    def trouble(self, tree: Path) -> str | None:
        """Why this can no longer be planted, or None."""
        place = tree / self.file
        if not place.is_file():
            return f"{self.file} is not there"
        count = place.read_text(encoding="utf-8").count(self.old)
        return None if count == 1 else f"{self.file} has this text {count} times: {self.old.strip()!r}"


@dataclass(frozen=True)
class Bug:
    """`caught_by`: tests as `path::function`, every one of which fails when the bug is there."""

    name: str
    promise: str
    edits: tuple[Edit, ...]
    caught_by: tuple[str, ...]

    def plant(self, tree: Path) -> dict[Path, str]:
        """Puts the bug into a tree; what stood in the files before. ValueError when a text is not there exactly once."""
        troubles = [trouble for edit in self.edits if (trouble := edit.trouble(tree))]
        if troubles:
            raise ValueError(f"{self.name}: {'; '.join(troubles)}")
        before = {tree / edit.file: (tree / edit.file).read_text(encoding="utf-8") for edit in self.edits}
        for edit in self.edits:
            place = tree / edit.file
            place.write_text(place.read_text(encoding="utf-8").replace(edit.old, edit.new), encoding="utf-8")
        return before


def bugs(listed: Path = LIST) -> list[Bug]:
    """All planted bugs in the order of the list."""
    told = tomllib.loads(listed.read_text(encoding="utf-8"))["bug"]
    return [
        Bug(one["name"], one["promise"], tuple(Edit(**edit) for edit in one["edit"]), tuple(one["caught_by"]))
        for one in told
    ]


def table(of: list[Bug]) -> str:
    """The table of docs/reliability.md."""
    rows = ["| planted bug | promise | caught by |", "|---|---|---|"]
    for bug in of:
        tests = ", ".join(f"`{test.split('::')[1]}`" for test in bug.caught_by)
        rows.append(f"| {bug.name} | {bug.promise} | {tests} |")
    return "\n".join(rows)
