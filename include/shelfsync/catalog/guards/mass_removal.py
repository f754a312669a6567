"""Guard `mass_removal`: many SKUs left the extract at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.catalog.guards.over_threshold import judged

if TYPE_CHECKING:
    from shelfsync.catalog.guards.case import Case, Findings


def mass_removal(case: Case) -> Findings:
    """Many SKUs left the extract at once. Typical causes: a truncated file, a filter that excludes more."""
    yield from judged(case, "mass_removal", case.removed, case.on_sale, "on sale are missing from the extract")
