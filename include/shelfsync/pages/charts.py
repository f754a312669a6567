"""Charts that a page draws as SVG inside itself, with the numbers behind them as a table. No script, and no style but the style sheet's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime as dt
    from decimal import Decimal

    from shelfsync.explain.curves import Curve, Step

LABEL_MAX = 40
"""Characters of a label in a chart; the table beside it has the whole text."""
_ROW = 36
"""Height of a bar with its label."""


@dataclass(frozen=True)
class Bar:
    """One value. `text`: as a person reads it. `tone`: good, note, bad or nothing. `link`: where its rows are, below the pages."""

    label: str
    value: float
    text: str
    tone: str = ""
    link: str | None = None

    @property
    def short(self) -> str:
        """The label as the chart has it."""
        return self.label if len(self.label) <= LABEL_MAX else f"{self.label[: LABEL_MAX - 1]}…"


@dataclass(frozen=True)
class Bars:
    """Bars below each other. `whole`: the value of a full bar; None: the largest value. `note`: a sentence below the title."""

    title: str
    head: tuple[str, str]
    bars: tuple[Bar, ...]
    whole: float | None = None
    note: str = ""

    @property
    def height(self) -> int:
        """In pixels."""
        return _ROW * len(self.bars)

    def drawn(self) -> list[tuple[Bar, int, str]]:
        """Each bar with its upper edge in pixels and its width as a share of the chart."""
        most = self.whole or max((bar.value for bar in self.bars), default=0)
        return [(bar, _ROW * place, _share(bar.value, most)) for place, bar in enumerate(self.bars)]


_WIDE, _HIGH = 1000, 200
"""Of a chart of steps, in its own units; the page stretches it."""


@dataclass(frozen=True)
class Steps:
    """Prices over time as lines of steps, and below them when the product was on sale. Lines that lie on each other differ in width."""

    title: str
    curves: tuple[Curve, ...]
    until: dt.datetime

    @property
    def since(self) -> dt.datetime:
        """The first step."""
        return min(curve.steps[0].at for curve in self.curves)

    @property
    def prices(self) -> tuple[Decimal, Decimal] | None:
        """The lowest and the highest; None: there is none."""
        found = [step.price for curve in self.curves for step in curve.steps if step.price is not None]
        return (min(found), max(found)) if found else None

    def line(self, curve: Curve) -> str:
        """The path of its price; it is interrupted where the price is unknown."""
        parts: list[str] = []
        drawn = False
        for step, x, end in self._spans(curve):
            if step.price is None:
                drawn = False
                continue
            parts.append(f"{'V' if drawn else f'M{x:.1f} '}{self._height(step.price):.1f}H{end:.1f}")
            drawn = True
        return "".join(parts)

    def on_sale(self, curve: Curve) -> list[tuple[str, str]]:
        """Where it was on sale: begin and width of each bar."""
        return [(f"{x:.1f}", f"{max(end - x, 2):.1f}") for step, x, end in self._spans(curve) if step.active]

    def rows(self) -> list[tuple[dt.datetime, str, Step]]:
        """The numbers: each step, the newest first."""
        found = [(step.at, curve.name, step) for curve in self.curves for step in curve.steps]
        return sorted(found, key=lambda row: row[0], reverse=True)

    def _spans(self, curve: Curve) -> list[tuple[Step, float, float]]:
        """Each step with its left and right end."""
        ends = [*(step.at for step in curve.steps[1:]), self.until]
        return [(step, self._place(step.at), self._place(end)) for step, end in zip(curve.steps, ends, strict=True)]

    def _place(self, at: dt.datetime) -> float:
        whole = (self.until - self.since).total_seconds()
        share = (at - self.since).total_seconds() / whole if whole > 0 else 0.0
        return _WIDE * min(max(share, 0.0), 1.0)

    def _height(self, price: Decimal) -> float:
        low, high = self.prices or (price, price)
        share = float((price - low) / (high - low)) if high > low else 0.5
        return _HIGH * (0.95 - 0.9 * share)


def _share(value: float, most: float) -> str:
    """A value that is not zero is seen, however small it is."""
    if most <= 0 or value <= 0:
        return "0"
    return f"{max(min(100 * value / most, 100), 0.5):.2f}%"
