"""What was measured: as one dictionary for JSON, as tables for people, and as docs/internals/measured.md.

`python -m benchmarks.page` copies benchmarks/results/ to benchmarks/published/ and writes the page. Nothing of it is written by hand; a
test compares.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.stage import Measured, Stage, Way


_FIGURES = ("cpu_s", "wall_s", "peak_bytes", "idle_bytes", "lap_s", "rows", "bytes")


def result(stage: Stage, measured: Measured) -> dict[str, Any]:
    """A stage's figures and how its targets fared."""
    return {
        "name": stage.name,
        "title": stage.title,
        "ways": [_way(way, measured) for way in stage.ways if way.role != "check"],
        "targets": [found for target in stage.targets if (found := _target(target, measured)) is not None],
    }


def _way(way: Way, measured: Measured) -> dict[str, Any]:
    about: dict[str, Any] = {"name": way.name, "role": way.role, "title": way.title}
    if way.name in measured.left_out:
        return {**about, "left_out": measured.left_out[way.name]}
    parts = {
        name.removeprefix("part "): _spread(measured.of(way.name, name))
        for name in measured.rounds[way.name][0]
        if name.startswith("part ")
    }
    return {**about, **{name: _spread(measured.of(way.name, name)) for name in _FIGURES}, "parts_cpu_s": parts}


def _target(target: Any, measured: Measured) -> dict[str, Any] | None:
    values = target.value(measured)
    if not values:
        return None
    judged = measured.rows >= target.from_rows
    result = {"text": target.text, "limit": target.limit, "unit": target.unit, **_spread(values)}
    return {**result, "holds": target.holds(median(values)) if judged else None}


def _spread(values: Iterable[float]) -> dict[str, float]:
    found = sorted(values)
    return {"median": _short(median(found)), "least": _short(found[0]), "most": _short(found[-1])}


def _short(value: float) -> float:
    return round(value) if value >= 10_000 else float(f"{value:.4g}")


def spread(found: dict[str, float]) -> str:
    """Median, and how far the rounds are apart."""
    return (
        f"{found['median']:.3g} ({found['least']:.3g}-{found['most']:.3g})"
        if found["least"] != found["most"]
        else f"{found['median']:.3g}"
    )


PROJECT = Path(__file__).parents[1]
PUBLISHED = PROJECT / "benchmarks" / "published"
DOCUMENT = PROJECT / "docs/internals/measured.md"
SIZES = ("1m", "10m", "50m")
"""In the order of the page."""
PROMOTIONS = "promotions"
_HEAD = """# Measured by make bench

For an engineer who compares a way of the hot path with other ways. `python -m benchmarks.page` writes this page from `benchmarks/published`.
[Performance](performance.md) explains how they are measured. A target holds unless it is marked; it has the median, and the
least and the most of several rounds. A way has its medians. `make bench` prints wall time and parts too."""


def main() -> None:
    """Publishes the results that lie there."""
    PUBLISHED.mkdir(exist_ok=True)
    for name in (*SIZES, PROMOTIONS):
        found = PROJECT / "benchmarks" / "results" / f"{name}.json"
        if found.exists():
            shutil.copyfile(found, PUBLISHED / found.name)
    DOCUMENT.write_text(rendered(measured()))


def measured() -> dict[str, Any]:
    """What was published, by size; and the promotions."""
    names = (*SIZES, PROMOTIONS)
    return {name: json.loads(file.read_text()) for name in names if (file := PUBLISHED / f"{name}.json").exists()}


def rendered(found: dict[str, Any]) -> str:
    """The page."""
    parts = [
        _promotions(result) if name == PROMOTIONS else tables(result, short=True) for name, result in found.items()
    ]
    return "\n\n".join([_HEAD, *parts]) + "\n"


def tables(found: dict[str, Any], *, short: bool = False) -> str:
    """What was measured at one size: the machine, the targets, the figures of each stage; short, the medians of CPU and memory alone."""
    parts = [f"## {found['rows']:,} rows", _machine(found["machine"]), _target_table(found)]
    return "\n\n".join([*parts, *(_stage_table(stage, short=short) for stage in found["stages"])])


def _machine(machine: dict[str, Any]) -> str:
    libraries = ", ".join(f"{name} {version}" for name, version in machine["libraries"].items())
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB, {machine['system']},"
        f" Python {machine['python']}, {libraries}."
    )


def _promotions(found: dict[str, Any]) -> str:
    lines = [
        f"## {found['pairs']:,} promotions",
        "",
        f"{_machine(found['machine'])} Load average {found['load_average']}. From the ERP's file to the last 202 of the platform, wall.",
        "",
        "| shape | read s | plan s | send s | all s | requests | MB | peak MiB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for shape, figures in found["shapes"].items():
        seconds = " | ".join(f"{figures[f'{step}_s']:.1f}" for step in ("extract", "plan", "deliver", "all"))
        lines.append(
            f"| {shape} | {seconds} | {figures['requests']} | {figures['bytes'] / 1e6:.1f} | {figures['peak_mib']} |"
        )
    return "\n".join(lines)


def _target_table(found: dict[str, Any]) -> str:
    lines = ["| target | limit | measured |", "|---|---|---|"]
    for target in (one for stage in found["stages"] for one in stage["targets"]):
        word = {True: "", False: ", **missed**", None: ", not judged"}[target["holds"]]
        lines.append(f"| {target['text']} | {target['limit']} | {spread(target)} {target['unit']}{word} |")
    return "\n".join(lines)


def _stage_table(stage: dict[str, Any], *, short: bool = False) -> str:
    rounds = "one round" if stage["rounds"] == 1 else f"{stage['rounds']} rounds in turns"
    columns = ("way", "CPU s", "peak MiB") if short else ("way", "rows", "CPU s", "wall s", "peak MiB")
    lines = [
        f"**{stage['title']}** - {rounds}, load average {stage['load_average']}",
        "",
        f"| {' | '.join(columns)} |",
        "|---" * len(columns) + "|",
    ]
    ways = [way for way in stage["ways"] if "left_out" not in way or not short]
    for way in ways:
        lines.append(f"| {' | '.join(_short_cells(way, ways[0]) if short else _cells(way))} |")
        if not short and way.get("parts_cpu_s"):
            parts = ", ".join(f"{name} {spread(part)}" for name, part in way["parts_cpu_s"].items())
            lines.append(f"| - of that, CPU s: {parts} | | | | |")
    return "\n".join(lines)


def _cells(way: dict[str, Any]) -> tuple[str, ...]:
    if "left_out" in way:
        return (way["title"], "", way["left_out"], "", "")
    return (way["title"], _rows(way), spread(way["cpu_s"]), spread(way["wall_s"]), _peak(way))


def _short_cells(way: dict[str, Any], first: dict[str, Any]) -> tuple[str, ...]:
    """The medians alone; the rows only of a way that had others than the first one of its stage."""
    rows = "" if _rows(way) == _rows(first) else f" ({_rows(way)} rows)"
    return (f"{way['title']}{rows}", f"{way['cpu_s']['median']:.3g}", _peak(way))


def _rows(way: dict[str, Any]) -> str:
    return f"{way['rows']['median']:,.0f}"


def _peak(way: dict[str, Any]) -> str:
    return f"{way['peak_bytes']['median'] / 2**20:.0f}"


if __name__ == "__main__":
    main()
