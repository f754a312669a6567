"""Writes docs/performance.md from the measurements: `python -m benchmarks.page` copies benchmarks/results/ and writes the page.

Between the marks of the page nothing is written by hand; a test compares.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from benchmarks import table

PROJECT = Path(__file__).parents[1]
PUBLISHED = PROJECT / "benchmarks" / "published"
DOCUMENT = PROJECT / "docs" / "performance.md"
SIZES = ("10m", "50m")
"""In the order of the page."""
PROMOTIONS = "promotions"
_BEGIN, _END = "<!-- measured: written by python -m benchmarks.page -->", "<!-- end of what was measured -->"


def main() -> None:
    """Publishes the results that lie there."""
    PUBLISHED.mkdir(exist_ok=True)
    for name in (*SIZES, PROMOTIONS):
        found = PROJECT / "benchmarks" / "results" / f"{name}.json"
        if found.exists():
            shutil.copyfile(found, PUBLISHED / found.name)
    DOCUMENT.write_text(rendered(DOCUMENT.read_text(), measured()))


def measured() -> dict[str, Any]:
    """What was published, by size; and the promotions."""
    names = (*SIZES, PROMOTIONS)
    return {name: json.loads(file.read_text()) for name in names if (file := PUBLISHED / f"{name}.json").exists()}


def rendered(page: str, found: dict[str, Any]) -> str:
    """The page with what was measured between its marks."""
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    parts = [_promotions(result) if name == PROMOTIONS else _size(result) for name, result in found.items()]
    return before + "\n\n".join([_BEGIN, *parts, _END]) + after


def _size(found: dict[str, Any]) -> str:
    parts = [f"## {found['rows']:,} rows", _machine(found["machine"]), _targets(found)]
    return "\n\n".join([*parts, *(_stage(stage) for stage in found["stages"])])


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


def _targets(found: dict[str, Any]) -> str:
    lines = ["| target | limit | measured: median (least-most) | |", "|---|---|---|---|"]
    for target in (one for stage in found["stages"] for one in stage["targets"]):
        word = {True: "holds", False: "**missed**", None: "not judged"}[target["holds"]]
        lines.append(f"| {target['text']} | {target['limit']} | {table.spread(target)} {target['unit']} | {word} |")
    return "\n".join(lines)


def _stage(stage: dict[str, Any]) -> str:
    rounds = "one round" if stage["rounds"] == 1 else f"{stage['rounds']} rounds in turns"
    lines = [
        f"**{stage['title']}** - {rounds}, load average {stage['load_average']}",
        "",
        "| way | rows | CPU s | wall s | peak MiB |",
        "|---|---|---|---|---|",
    ]
    for way in stage["ways"]:
        if "left_out" in way:
            lines.append(f"| {way['title']} | | {way['left_out']} | | |")
            continue
        figures = (
            f"{table.spread(way['cpu_s'])} | {table.spread(way['wall_s'])} | {way['peak_bytes']['median'] / 2**20:.0f}"
        )
        lines.append(f"| {way['title']} | {way['rows']['median']:,.0f} | {figures} |")
        lines += [f"| - of that, {name} | | {table.spread(part)} | | |" for name, part in way["parts_cpu_s"].items()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
