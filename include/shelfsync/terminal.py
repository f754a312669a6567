"""What the command line shows to people: progress, and tables."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from shelfsync.characters import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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
    "oldest change": "oldest_unacknowledged_s",
}


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


def status_tables(status: dict[str, Any]) -> list[Table]:
    """Vendors and the last runs."""
    rows = [_vendor_row(row) for row in status["vendors"]]
    vendors = Table(title="vendors", title_justify="left")
    vendors.add_column("vendor", overflow="fold")
    for place, name in enumerate(_COUNTS, start=1):
        words = [*name.split(), *(row[place] for row in rows)]
        vendors.add_column(
            name, justify="right", width=max(map(len, words))
        )  # leaves the width of the pipe to the texts
    vendors.add_column("last run", overflow="fold")
    for row in rows:
        vendors.add_row(*row)
    fresh = Table(title="from the ERP to the platform's outcome, last 24 hours", title_justify="left")
    for name in ("priority", "SKUs", "went with them", "jobs", "median", "95 %", "longest"):
        fresh.add_column(name, justify="left" if name == "priority" else "right")
    for row in status["freshness"]:
        times = [age(row[name]) for name in ("seconds_median", "seconds_p95", "seconds_max")]
        numbers = (f"{row[name]:,}" for name in ("skus", "skus_beside", "jobs"))
        fresh.add_row(row["priority"], *numbers, *times)
    runs = Table(title="last runs", title_justify="left")
    for name in ("run", "kind", "state", "started", "what to know"):
        runs.add_column(name)
    for row in status["runs"]:
        kind = row["kind"] + (" (dry)" if row["dry_run"] else "")
        runs.add_row(
            str(row["run_id"]),
            kind,
            row["state"],
            f"{row['started_at']:%Y-%m-%d %H:%M:%S %Z}",
            row["error"] or row["run_key"],
        )
    return [vendors, fresh, runs]


def _vendor_row(row: dict[str, Any]) -> list[str]:
    last = f"{row['last_run']}: {row['last_state']}" + (f" ({row['error']})" if row["error"] else "")
    last = "-" if row["last_run"] is None else last
    last = f"PAUSED; {last}" if row["paused"] else last
    counts = [row[name] for name in _COUNTS.values() if name != "oldest_unacknowledged_s"]
    numbers = ["?" if count is None else f"{count:,}" for count in counts]
    return [row["vendor"], *numbers, age(row["oldest_unacknowledged_s"]), last]


def orders_lines(status: dict[str, Any]) -> list[str]:
    """Orders in one line, and each alarm that lasts; nothing where there is no order."""
    if not any((status["open"], status["not_taken"], status["not_sent"], status["alarms"])):
        return []
    line = f"orders: {status['open']} open, {status['not_taken']} not taken by their store"
    line += f" (the oldest for {age(status['oldest_not_taken_s'])})" if status["not_taken"] else ""
    line += f", {status['not_sent']} results on their way"
    line += f" (the oldest for {age(status['oldest_not_sent_s'])})" if status["not_sent"] else ""
    return [line, *(f"ALARM: {message}" for message in status["alarms"])]


def timeline_table(events: Iterable[Event]) -> Table:
    """What happened to a SKU, oldest first."""
    table = Table()
    for name in ("when (UTC)", "step", "what", "values"):
        table.add_column(name, no_wrap=name in {"when (UTC)", "step"})
    for event in events:
        values = "" if event.values == type(event.values)() else str(event.values)
        table.add_row(f"{event.at:%Y-%m-%d %H:%M:%S}", event.step, event.message, values)
    return table


class PlainConsole(Console):
    """Shows every text as it is: markup in it means nothing, and nothing in it acts on the terminal."""

    def render_str(self, text: str, **how: Any) -> Text:
        return super().render_str(plain(text), **how | {"markup": False, "emoji": False, "highlight": False})


def wide_console() -> PlainConsole:
    """Standard output; as wide as the terminal, or wide enough for a file or a pipe."""
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
