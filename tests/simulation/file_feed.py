"""Feeds of files with faults: late, in the wrong order, half, poisoned, twice by one name, removed too early, wrong, or none at all.

The ERP is a database that is read as a whole, and a folder in which it puts files of changes. After the last fault and the next whole
reading, platform and ERP are equal; a file that cannot be read stops no other, and none is quarantined without a cause.
"""

from __future__ import annotations

import csv
import io
import random
import shutil
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from simulation.broken import Broken
from simulation.erp import HEADER, VENDORS
from simulation.feed import FeedErp, FeedRun
from simulation.shape import KNOWN_SKUS

if TYPE_CHECKING:
    from pathlib import Path

    from simulation.erp import Key
    from simulation.fault_point import Death, FaultPoint
    from simulation.world import World

FILE_FAULTS = ("late", "order", "half", "poisoned", "bad_row", "twice", "again", "gone", "lies", "stops")
LIE = Decimal("0.017")
REST_S = 120
"""Longer than a file that is not whole waits before it is quarantined."""
_DONE = ("taken", "quarantined")


@dataclass
class Arrival:
    """A file of the ERP: what it holds when it is whole, and what the folder does not have of it yet."""

    path: Path
    rows: dict[Key, list[str]]
    text: str = ""
    due: int = 0
    """After so many actions more the whole file is in the folder."""
    struck: set[str] = field(default_factory=set)
    """The faults that it suffered."""


class FolderErp(FeedErp):
    """The ERP as a database with the truth in `stock`, whose changes come as files: one sequence for all, or one for each vendor."""

    def __init__(self, folder: Path, *, by_vendor: bool) -> None:
        super().__init__(folder)
        self.by_vendor = by_vendor
        self.drop_off = folder / "feed"
        shutil.rmtree(self.drop_off, ignore_errors=True)
        for place in [self.drop_off / vendor for vendor in VENDORS] if by_vendor else [self.drop_off]:
            place.mkdir(parents=True)
        self.files: dict[Path, Arrival] = {}
        self._waiting: list[Arrival] = []
        self._taken: set[str] = set()
        self._number = 0

    @property
    def settings(self) -> dict[str, Any]:
        """Section `erp`."""
        address = self.drop_off / "{vendor}" / "*.csv" if self.by_vendor else self.drop_off
        columns = ", ".join(HEADER)
        whole = {"url": f"sqlite:///{self.database}", "sql": f"SELECT {columns} FROM stock"}
        return whole | ({"changes_files": str(address)} if self.is_followed else {})

    def write(self, damage: str | None = None, seed: int = 0) -> None:
        """Commits what changed, then puts it into files; `damage` is a fault of these."""
        chance = random.Random(seed)
        rows = {key: row.cells(key, buffer_known=self.buffer_known) for key, row in self.rows.items()}
        changed: dict[Key, list[str]] = {}
        for key in sorted(rows.keys() | self._written.keys()):
            cells = rows.get(key)
            if cells == self._written.get(key):
                continue
            self._put("stock", key, cells, 0)
            changed[key] = cells if cells is not None else _inactive(self._written[key])
        self._written = rows
        if damage == "stops":
            return
        if damage == "lies":
            changed = {key: [*cells[:3], str(LIE), *cells[4:]] for key, cells in changed.items()}
        if damage not in {"twice", "order"}:
            self._number += 1
        for vendor in VENDORS if self.by_vendor else ("",):
            of_vendor = {key: cells for key, cells in changed.items() if not vendor or key[0] == vendor}
            if of_vendor:
                self._put_file(vendor, of_vendor, damage, chance)

    def time_passes(self) -> None:
        """Files that are late or half come nearer."""
        for arrival in self._waiting:
            arrival.due -= 1
        for arrival in [one for one in self._waiting if one.due <= 0]:
            self._waiting.remove(arrival)
            _place(arrival.path, arrival.text)
            self.files[arrival.path] = arrival

    def everything_arrives(self) -> None:
        """The last of them is there."""
        while self._waiting:
            self.time_passes()

    def repair_feed(self) -> None:
        """From now on it does what it should; what it reported before is not taken back."""
        self.everything_arrives()

    def stale(self, done: dict[str, str]) -> None:
        """Notes what files report that a reading has yet to take, file by file, and then the truth: so the feed wants it in turn.

        `done`: path -> state of those that the ledger knows. What is before a file that was ever taken has to bring nothing, so it is not
        noted.
        """
        self._taken |= {path for path, state in done.items() if state == "taken"}
        for path in sorted(self.files, key=lambda one: one.name):
            if any(str(path.parent) == other.rsplit("/", 1)[0] and str(path) < other for other in self._taken):
                continue
            for key, cells in self.files[path].rows.items():
                self._reported(key, cells)

    def _put_file(self, vendor: str, rows: dict[Key, list[str]], damage: str | None, chance: random.Random) -> None:
        name = f"{self._number:06}.csv" if damage != "order" else f"{self._number - 1:06}z.csv"
        path = self.drop_off / vendor / name
        arrival = Arrival(path, rows, self._text(rows), struck={damage or "none"})
        if before := self.files.get(path):
            arrival.struck |= before.struck | {"twice"}
        self._waiting = [one for one in self._waiting if one.path != path]
        if damage == "gone":
            self._clear(path.parent)
        if damage == "late":
            arrival.due = chance.randint(1, 4)
            self._waiting.append(arrival)
            return
        if damage == "half":
            path.write_text(arrival.text[: chance.randint(0, len(arrival.text) - 1)])
            arrival.due = chance.randint(1, 4)
            self._waiting.append(arrival)
        elif damage == "poisoned":
            path.write_bytes(self._poison(arrival.text, chance))
        else:
            if damage == "bad_row":
                arrival.rows = {key: [*cells[:3], "NaN", *cells[4:]] for key, cells in rows.items()}
                arrival.text = self._text(arrival.rows)
            _place(path, arrival.text)
        self.files[path] = arrival
        if damage == "again" and (earlier := sorted(one for one in self.files if one.parent == path.parent)[:-1]):
            _place(earlier[-1], self.files[earlier[-1]].text)
            self.files[earlier[-1]].struck.add("again")

    def _clear(self, place: Path) -> None:
        """The ERP removes its older files before they are taken."""
        for path in [one for one in self.files if one.parent == place]:
            path.unlink(missing_ok=True)
            del self.files[path]

    def _text(self, rows: dict[Key, list[str]]) -> str:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        first = 1 if self.by_vendor else 0
        writer.writerow(HEADER[first:])
        writer.writerows(cells[first:] for _, cells in sorted(rows.items()))
        return buffer.getvalue()

    def _poison(self, text: str, chance: random.Random) -> bytes:
        """Content that is never whole."""
        renamed = text.replace("sku", "article", 1)
        texts = ("", "\0\1\2", renamed, text.rstrip("\n"), text + '"unended', text.replace("price", "cost", 1))
        return chance.choice(texts).encode()


@dataclass
class FileFeedRun(FeedRun):
    """One seed."""

    quarantined: int = 0
    """Files that were quarantined in the end."""
    unlanded: int = 0
    """Deaths after rows were taken from files and before these landed."""

    faults: ClassVar[tuple[str, ...]] = FILE_FAULTS

    def _new_erp(self, world: World, chance: random.Random) -> FolderErp:
        return FolderErp(world.folder, by_vendor=chance.random() < 0.4)

    def _strike(self, erp: FeedErp, fault: str, chance: random.Random) -> None:
        erp.write(fault, chance.getrandbits(32))

    def _note_reported(self, kind: str) -> None:
        self._erp.stale(self._states())

    def _live(self, kind: str, death: Death | None, vendor: str = VENDORS[0]) -> FaultPoint:
        before = self._states()
        if not self.world.rows(
            "SELECT FROM ledger.position"
        ):  # a reading of the whole has all of them, so none is read
            for arrival in self._erp.files.values():
                arrival.struck.add("covered")
        fault_point = super()._live(kind, death, vendor)
        if fault_point.dead and "rename changes" in fault_point.trail and self._states() == before:
            self.unlanded += 1
        return fault_point

    def _pass(self, erp: FeedErp, seconds: int) -> None:
        super()._pass(erp, seconds)
        self._erp.time_passes()

    def _before_repair(self, chance: random.Random) -> None:
        """The feed is silent but for one more file: what was not whole is quarantined, and that file is taken."""
        erp = self._erp
        erp.everything_arrives()
        key = chance.choice(VENDORS), KNOWN_SKUS[0]
        erp.put(key, chance)
        erp.write()
        for _ in range(3):
            self._live("delta", None)
            self._pass(erp, REST_S)
        states = self._states()
        for path, arrival in erp.files.items():
            state = states.get(str(path), "unknown")
            if state not in _DONE:
                raise Broken("I10", f"{path.name} with {arrival.struck} is {state}, although nothing has written to it")
            if arrival.struck <= {"none", "lies", "stops", "bad_row", "gone", "covered"} and state != "taken":
                raise Broken("I14", f"{path.name} is {state}, and nothing was wrong with it: {self._reason(path)}")
            if arrival.struck == {"poisoned"} and state != "quarantined":
                raise Broken("I14", f"{path.name} is {state}, and it cannot be read")
        held = self._held_prices().get(key[0])
        if held is None:
            last = "SELECT state FROM ledger.vendor_run WHERE vendor = :v ORDER BY generation DESC LIMIT 1"
            if [row.state for row in self.world.rows(last, v=key[0])] != ["failed"]:
                raise Broken("I15", f"vendor {key[0]} has rows in the last file and in no reading, and has not failed")
            return
        found, wanted = held.get(key[1]), self._true_prices(key[0])[key[1]]
        if found != wanted:
            raise Broken("I10", f"{'/'.join(key)} has the price {found} after the last file, which has {wanted}")

    def _equal(self, erp: FeedErp, left: list[str]) -> None:
        super()._equal(erp, left)
        rows = self.world.rows("SELECT file, closed FROM ledger.change_file WHERE state = 'quarantined'")
        self.quarantined = len(rows)
        if open_ones := [row.file for row in rows if not row.closed]:
            raise Broken("I15", f"{open_ones[0]} is still reported after the whole was read")

    @property
    def _erp(self) -> FolderErp:
        assert isinstance(self.world.erp, FolderErp)
        return self.world.erp

    def _states(self) -> dict[str, str]:
        return {row.file: row.state for row in self.world.rows("SELECT file, state FROM ledger.change_file")}

    def _reason(self, path: Path) -> str:
        return str(self.world.rows("SELECT reason FROM ledger.change_file WHERE file = :f", f=str(path))[0].reason)


def _inactive(cells: list[str]) -> list[str]:
    """What a file has of a product that is gone."""
    return ["0" if name == "active" else cell for name, cell in zip(HEADER, cells, strict=True)]


def _place(path: Path, text: str) -> None:
    """Written under a name that is not read, then renamed."""
    hidden = path.with_name(f".{path.name}")
    hidden.write_text(text)
    hidden.rename(path)
