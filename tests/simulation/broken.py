"""The error of a model whose invariant does not hold."""

from __future__ import annotations


class Broken(AssertionError):  # noqa: N818  an invariant, broken
    """An invariant does not hold: its name and the case."""

    def __init__(self, invariant: str, case: str) -> None:
        super().__init__(f"{invariant}: {case}")
        self.invariant = invariant
