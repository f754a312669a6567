"""What the command line shows to people: progress, and tables."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from shelfsync import display
from shelfsync.invisible_characters import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rich.console import ConsoleOptions, RenderResult
    from rich.text import Text

    from shelfsync.explain.explanation import Event


PIPE_WIDTH = 170
_COUNTS = {
    "ERP rows": "erp_rows",
    "not in ERP": "not_in_erp",
    "acknowledged": "acknowledged",
    "pending": "pending",
    "in flight": "in_flight",
    "unconfirmed": "unconfirmed",
    "held": "held",
    "suppressed": "suppressed",
    "rejected": "rejected_for_good",
    "for now": "rejected_for_now",
    "absent": "absent",
    "quarantined": "quarantined",
}
_AGES = {"oldest change": "oldest_unacknowledged_s", "oldest held": "oldest_held_s"}
_LEAST_IMPORTANT_FIRST = (
    "suppressed",
    "acknowledged",
    "ERP rows",
    "in flight",
    "for now",
    "not in ERP",
    "absent",
    "unconfirmed",
    "quarantined",
    "rejected",
    "pending",
    "oldest held",
    "oldest change",
    "held",
)


@contextlib.contextmanager
def progress(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """A function `report(step, done, all)`. On a terminal it draws one bar per step; elsewhere it draws nothing."""
    columns = (TextColumn("{task.description:>12}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        known: dict[str, TaskID] = {}

        def report(step: str, done: int, everything: int) -> None:
            if step not in known:
                known[step] = bars.add_task(step, total=everything)
            bars.update(known[step], completed=done, total=everything)

        yield report


@dataclasses.dataclass(frozen=True, slots=True)
class FittedTable:
    """A table that fits into the width it is printed at. Each heading that is printed can be read, and no cell is cut.

    `columns`: name and least width of a column of text, whose cells are folded; None for numbers, whose cells stay in one line.
    `may_go`: the columns that a narrow terminal leaves out, the first one first; before them, those of them without any number.
    A line below names them.
    """

    columns: dict[str, int | None]
    rows: list[list[str]]
    title: str | None = None
    may_go: tuple[str, ...] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        cells = {name: [plain(row[place]) for row in self.rows] for place, name in enumerate(self.columns)}
        least = {name: _least_width(name, cells[name], floor) for name, floor in self.columns.items()}
        empty = [name for name in self.may_go if set(cells[name]) <= {"0", "-"}]
        going = [*empty, *(name for name in self.may_go if name not in empty)]
        gone: set[str] = set()
        while going and _table_width(least) > options.max_width:
            gone.add(going[0])
            del least[going.pop(0)]
        table = Table(title=self.title, title_justify="left")
        for name, width in least.items():
            if self.columns[name] is None:
                table.add_column(name, justify="right", width=width)
            else:
                table.add_column(name, overflow="fold")
        for row in zip(*(cells[name] for name in least), strict=True):
            table.add_row(*row)
        yield table
        if gone:
            names = ", ".join(name for name in self.columns if name in gone)
            how = "`--json` or a wider terminal shows" if console.is_terminal else "`--json` shows"
            yield f"not shown in {options.max_width} columns: {names}; {how} them"


def _least_width(name: str, cells: list[str], floor: int | None) -> int:
    """The width at which a column can be read: numbers in one line each, texts folded at `floor`."""
    longest = max(map(cell_len, cells), default=0)
    return max(*map(cell_len, name.split()), longest if floor is None else min(longest, floor))


def _table_width(columns: dict[str, int]) -> int:
    return sum(width + 3 for width in columns.values()) + 1  # a border and two spaces


def status_tables(status: dict[str, Any]) -> list[FittedTable]:
    """Vendors, the time to the outcome, and the last runs."""
    vendors = FittedTable(
        {"vendor": 12, **dict.fromkeys((*_COUNTS, *_AGES)), "last run": 16},
        [_vendor_row(row) for row in status["vendors"]],
        title="vendors",
        may_go=_LEAST_IMPORTANT_FIRST,
    )
    fresh = FittedTable(
        {"priority": 10, **dict.fromkeys(("SKUs", "went with them", "jobs", "median", "95 %", "longest"))},
        [_freshness_row(row) for row in status["freshness"]],
        title="from the ERP to the platform's outcome, last 24 hours",
        may_go=("went with them", "jobs", "longest"),
    )
    runs = FittedTable(
        {"run": None, "kind": 6, "state": 13, "started": 10, "what to know": 12},
        [_run_row(row) for row in status["runs"]],
        title="last runs",
    )
    return [vendors, fresh, runs]


def _freshness_row(row: dict[str, Any]) -> list[str]:
    times = [age(row[name]) for name in ("seconds_median", "seconds_p95", "seconds_max")]
    return [row["priority"], *(f"{row[name]:,}" for name in ("skus", "skus_beside", "jobs")), *times]


def _run_row(row: dict[str, Any]) -> list[str]:
    kind = row["kind"] + (" (dry)" if row["dry_run"] else "")
    started = display.instant(row["started_at"])
    return [str(row["run_id"]), kind, row["state"], started, row["error"] or row["run_key"]]


def _vendor_row(row: dict[str, Any]) -> list[str]:
    last = f"{row['last_run']}: {row['last_state']}" + (f" ({row['error']})" if row["error"] else "")
    last = "-" if row["last_run"] is None else last
    last = f"PAUSED; {last}" if row["paused"] else last
    counts = [row[name] for name in _COUNTS.values()]
    numbers = ["?" if count is None else f"{count:,}" for count in counts]
    return [row["vendor"], *numbers, *(age(row[name]) for name in _AGES.values()), last]


def orders_lines(status: dict[str, Any]) -> list[str]:
    """Orders in one line, and each alarm that lasts; nothing where there is no order."""
    if not any((status["open"], status["not_taken"], status["not_sent"], status["alarms"])):
        return []
    line = f"orders: {status['open']} open, {status['not_taken']} not taken by their store"
    line += f" (the oldest for {age(status['oldest_not_taken_s'])})" if status["not_taken"] else ""
    line += f", {status['not_sent']} results on their way"
    line += f" (the oldest for {age(status['oldest_not_sent_s'])})" if status["not_sent"] else ""
    return [line, *(f"ALARM: {message}" for message in status["alarms"])]


def timeline_table(events: Iterable[Event]) -> FittedTable:
    """What happened to a SKU, oldest first."""
    rows = [
        [
            display.instant(event.at),
            event.step,
            event.message,
            "" if event.values == type(event.values)() else str(event.values),
        ]
        for event in events
    ]
    return FittedTable({"when": 10, "step": 11, "what": 12, "values": 10}, rows)


class PlainConsole(Console):
    """Shows every text as it is: markup in it means nothing, and nothing in it acts on the terminal."""

    def render_str(self, text: str, **how: Any) -> Text:
        return super().render_str(plain(text), **how | {"markup": False, "emoji": False, "highlight": False})


def wide_console() -> PlainConsole:
    """Standard output; as wide as the terminal, or wide enough for a file or a pipe.

    A pipe does not follow COLUMNS: the library readline sets it in every process that a Python with a prompt starts.
    """
    console = PlainConsole()
    return console if console.is_terminal else PlainConsole(width=PIPE_WIDTH)


def age(seconds: float | None) -> str:
    """Seconds as a text for people."""
    if seconds is None:
        return "-"
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"
