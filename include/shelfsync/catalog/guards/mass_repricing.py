"""Guard `mass_repricing`: very many prices change at once, even by little."""

from __future__ import annotations

import pyarrow.compute as pc

from shelfsync.catalog.guards.case import PRICE_FIELDS, Case, Findings
from shelfsync.catalog.guards.over_threshold import judged


def mass_repricing(case: Case) -> Findings:
    """Very many prices change at once, even by little. Typical causes: a currency, a tax, another chain's price list."""
    rows = pc.not_equal(case.price_ratio, 1.0).fill_null(False)
    yield from judged(case, "mass_repricing", rows, case.priced, "get another price", PRICE_FIELDS)
