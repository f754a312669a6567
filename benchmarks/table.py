"""What was measured, as one dictionary for JSON and as text for people."""

from __future__ import annotations

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


def text(found: dict[str, Any]) -> str:
    """Two tables: figures a way, then the targets."""
    machine = found["machine"]
    lines = [
        (
            f"{found['rows']:,} rows, {found['took_s']:g} s;"
            f" {machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB"
        ),
    ]
    for stage in found["stages"]:
        lines += ["", _title(stage), f"  {'':58} {'CPU s':>16} {'wall s':>16} {'peak MiB':>9}"]
        for way in stage["ways"]:
            lines.append(f"  {_line(way)}")
            lines += [f"    {name:56} {spread(part):>16}" for name, part in way.get("parts_cpu_s", {}).items()]
    lines += ["", "targets"]
    for target in (one for stage in found["stages"] for one in stage["targets"]):
        word = {True: "holds", False: "MISSED", None: "not judged at this size"}[target["holds"]]
        lines.append(f"  {target['text']:75} {spread(target):>20} {target['unit']:4} {target['limit']:>10}  {word}")
    return "\n".join(lines)


def _title(stage: dict[str, Any]) -> str:
    return f"{stage['title']} ({stage['rounds']} rounds, load {stage['load_average']})"


def _line(way: dict[str, Any]) -> str:
    if "left_out" in way:
        return f"{way['title']:58} {way['left_out']}"
    return f"{way['title']:58} {spread(way['cpu_s']):>16} {spread(way['wall_s']):>16} {way['peak_bytes']['median'] / 2**20:9.0f}"


def spread(found: dict[str, float]) -> str:
    """Median, and how far the rounds are apart."""
    return (
        f"{found['median']:.3g} ({found['least']:.3g}-{found['most']:.3g})"
        if found["least"] != found["most"]
        else f"{found['median']:.3g}"
    )
