"""Guard `mass_deactivation`: many SKUs go off sale at once."""

from __future__ import annotations

from shelfsync.catalog.guards.case import STOCK_FIELDS, Case, Findings
from shelfsync.catalog.guards.over_threshold import judged


def mass_deactivation(case: Case) -> Findings:
    """Many SKUs go off sale at once, switched off or missing, counted together."""
    yield from judged(case, "mass_deactivation", case.going_off, case.on_sale, "on sale are switched off", STOCK_FIELDS)
