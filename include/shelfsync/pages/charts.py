"""Charts that a page draws as SVG inside itself, with the numbers behind them as a table. No script, and no style but the style sheet's."""

from __future__ import annotations

from dataclasses import dataclass

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


def _share(value: float, most: float) -> str:
    """A value that is not zero is seen, however small it is."""
    if most <= 0 or value <= 0:
        return "0"
    return f"{max(min(100 * value / most, 100), 0.5):.2f}%"
