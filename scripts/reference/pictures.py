"""The drawings of the documentation: `python -m scripts.reference.pictures` writes docs/pictures/*.svg, which load nothing.

A drawing is boxes on a grid and arrows between them. A box is `name: (column, row, text)`; `|` in a text begins a new line.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs/pictures"
WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 176, 64, 72, 48, 16
_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" role="img" aria-label="{label}">
<style>
rect {{ fill: #eef2fb; stroke: #3f51b5; rx: 6px }}
.out rect {{ fill: #fdf3e4; stroke: #b26a00 }}
text {{ font: 13px system-ui, sans-serif; fill: #1c2333; text-anchor: middle }}
path {{ fill: none; stroke: #5b6478; stroke-width: 1.5; marker-end: url(#end) }}
.note {{ font-size: 11px; fill: #444c5e; paint-order: stroke; stroke: #fff; stroke-width: 4px }}
</style>
<defs><marker id="end" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
<path d="M0 0 10 5 0 10z" style="fill:#5b6478;stroke:none;marker-end:none"/></marker></defs>
<rect width="{w}" height="{h}" style="fill:#fff;stroke:none"/>
"""


@dataclass(frozen=True)
class Drawing:
    """`outside`: the boxes that are no part of shelfsync. An arrow is (from, to, note)."""

    label: str
    boxes: dict[str, tuple[int, int, str]]
    arrows: list[tuple[str, str, str]]
    outside: frozenset[str] = frozenset()


DRAWINGS = {
    "context": Drawing(
        "What shelfsync stands between: ERP, platform, stores and operators",
        {
            "erp": (0, 1, "ERP|database or files"),
            "people": (1, 0, "operators|pages, commands"),
            "shelfsync": (1, 1, "shelfsync|in your Airflow"),
            "stores": (1, 2, "stores|tills, picking"),
            "platform": (2, 1, "delivery platform"),
            "customers": (3, 1, "customers|the app"),
        },
        [
            ("erp", "shelfsync", "rows"),
            ("people", "shelfsync", "decide"),
            ("shelfsync", "platform", "changes"),
            ("shelfsync", "stores", "orders"),
            ("platform", "customers", "shelf"),
        ],
        frozenset({"erp", "people", "stores", "platform", "customers"}),
    ),
    "price-path": Drawing(
        "The path of a price from a row of the ERP to the acknowledged baseline",
        {
            "row": (0, 0, "row of the ERP"),
            "snapshot": (1, 0, "snapshot|cut to 3 decimals"),
            "delta": (2, 0, "delta|against the baseline"),
            "guard": (3, 0, "released|or held"),
            "batch": (3, 1, "batch|with its SKUs"),
            "job": (2, 1, "job|of the platform"),
            "outcome": (1, 1, "outcome|by SKU"),
            "baseline": (0, 1, "baseline|moves here only"),
        },
        [
            ("row", "snapshot", "normalise"),
            ("snapshot", "delta", "diff"),
            ("delta", "guard", "guard"),
            ("guard", "batch", "batch"),
            ("batch", "job", "deliver"),
            ("job", "outcome", "confirm"),
            ("outcome", "baseline", "ack."),
        ],
    ),
    "deployment": Drawing(
        "What runs where: Airflow's services, the receiver, PostgreSQL and the lake",
        {
            "platform": (0, 0, "platform"),
            "proxy": (0, 1, "your proxy|TLS"),
            "receiver": (1, 1, "receiver|webhooks, results"),
            "workers": (1, 0, "workers|tasks of the DAGs"),
            "triggerer": (2, 0, "triggerer|waits for jobs"),
            "airflow": (3, 0, "scheduler,|API server, pages"),
            "postgres": (2, 1, "PostgreSQL|ledger, inbox, limit"),
            "lake": (3, 1, "lake|Parquet, raw files"),
        },
        [
            ("platform", "proxy", "events"),
            ("proxy", "receiver", "HTTP"),
            ("receiver", "postgres", "events"),
            ("workers", "platform", "HTTPS"),
            ("triggerer", "postgres", ""),
            ("workers", "postgres", "rows"),
            ("airflow", "triggerer", ""),
            ("workers", "lake", "files"),
        ],
        frozenset({"platform", "proxy"}),
    ),
}


def svg(drawing: Drawing) -> str:
    """The drawing as an SVG document."""
    columns = 1 + max(column for column, _, _ in drawing.boxes.values())
    rows = 1 + max(row for _, row, _ in drawing.boxes.values())
    width = 2 * MARGIN + columns * WIDTH + (columns - 1) * GAP_X
    height = 2 * MARGIN + rows * HEIGHT + (rows - 1) * GAP_Y
    parts = [_HEAD.format(w=width, h=height, label=escape(drawing.label))]
    for start, end, note in drawing.arrows:
        boxes = drawing.boxes[start], drawing.boxes[end]
        (x1, y1), (x2, y2) = _edge(*boxes), _edge(*boxes[::-1])
        parts.append(f'<path d="M{x1} {y1} {x2} {y2}"/>\n')
        if note:
            parts.append(f'<text class="note" x="{(x1 + x2) / 2:g}" y="{(y1 + y2) / 2 - 6:g}">{escape(note)}</text>\n')
    for name, box in drawing.boxes.items():
        x, y = _corner(box)
        lines = box[2].split("|")
        parts.append(
            f'<g class="{"out" if name in drawing.outside else "in"}"><rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}"/>'
        )
        for number, line in enumerate(lines):
            top = y + HEIGHT / 2 + 5 + (number - (len(lines) - 1) / 2) * 17
            parts.append(f'<text x="{x + WIDTH // 2}" y="{top:g}">{escape(line)}</text>')
        parts.append("</g>\n")
    return "".join([*parts, "</svg>\n"])


def _corner(box: tuple[int, int, str]) -> tuple[int, int]:
    return MARGIN + box[0] * (WIDTH + GAP_X), MARGIN + box[1] * (HEIGHT + GAP_Y)


def _edge(box: tuple[int, int, str], other: tuple[int, int, str]) -> tuple[int, int]:
    """Where a line to another box leaves this one: in the same row at its side, else at top or bottom."""
    (x, y), column, row = _corner(box), other[0] - box[0], other[1] - box[1]
    if row == 0:
        return x + (WIDTH if column > 0 else 0), y + HEIGHT // 2
    return x + WIDTH // 2 + (WIDTH // 4 if column > 0 else -WIDTH // 4 if column < 0 else 0), y + (
        HEIGHT if row > 0 else 0
    )


def main() -> None:
    """Writes every drawing."""
    for name, drawing in DRAWINGS.items():
        (FOLDER / f"{name}.svg").write_text(svg(drawing), encoding="utf-8")


if __name__ == "__main__":
    main()
