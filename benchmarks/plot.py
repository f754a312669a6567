"""The ways of some stages as bars in an SVG: CPU seconds for a million rows, on a logarithmic scale."""

from __future__ import annotations

import math
from html import escape
from typing import Any

_WIDTH, _LEFT, _BAR, _GAP = 900, 400, 18, 6
_COLOURS = {"ours": "#1f6f4a", "bound": "#9aa5b1", "usual": "#c0562f", "peer": "#4a6fa5"}
_WORDS = {"ours": "shelfsync", "bound": "bound", "usual": "what a team would write", "peer": "another engine"}


def svg(found: dict[str, Any], stages: tuple[str, ...]) -> str:
    """The picture of one result."""
    bars = [
        (stage, way)
        for stage in found["stages"]
        if stage["name"] in stages
        for way in stage["ways"]
        if "left_out" not in way
    ]
    costs = [_cost(way) for _, way in bars]
    low = 10 ** math.floor(math.log10(min(costs)))
    high = max(costs)
    lines: list[str] = []
    y, last = 40, None
    for (stage, way), cost in zip(bars, costs, strict=True):
        if stage["name"] != last:
            y += 22
            lines.append(f'<text x="10" y="{y}" class="stage">{escape(stage["title"])}</text>')
            y += 10
            last = stage["name"]
        length = (_WIDTH - _LEFT - 90) * math.log(cost / low) / math.log(high / low)
        lines += [
            f'<text x="{_LEFT - 8}" y="{y + 13}" text-anchor="end">{escape(way["title"])}</text>',
            f'<rect x="{_LEFT}" y="{y}" width="{length:.1f}" height="{_BAR}" fill="{_COLOURS[way["role"]]}"/>',
            f'<text x="{_LEFT + length + 6:.1f}" y="{y + 13}">{cost:.3g}</text>',
        ]
        y += _BAR + _GAP
    legend = []
    for number, (role, word) in enumerate(_WORDS.items()):
        x = 10 + number * 190
        legend += [
            f'<rect x="{x}" y="{y + 14}" width="12" height="12" fill="{_COLOURS[role]}"/>',
            f'<text x="{x + 18}" y="{y + 24}">{word}</text>',
        ]
    title = f"CPU seconds for a million rows, of {found['rows']:,} (logarithmic)"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y + 40}" font-family="sans-serif" font-size="12">',
            f'<rect width="{_WIDTH}" height="{y + 40}" fill="#ffffff"/>',
            "<style>.stage { font-weight: bold; }</style>",
            f'<text x="10" y="24" font-size="15">{title}</text>',
            *lines,
            *legend,
            "</svg>\n",
        ]
    )


def _cost(way: dict[str, Any]) -> float:
    return max(float(way["cpu_s"]["median"]), 1e-6) / float(way["rows"]["median"]) * 1e6
