"""The garbage collector searches again and again what stays to the end: a tenth of a seed, a seventh of the tests."""

from __future__ import annotations

import gc


def collect_less() -> None:
    """Leaves out what there is by now, and searches the rest less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
