"""Guard `changed_columns`: the ERP's columns are other ones than in the last extract."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.catalog.guards.over_threshold import judged

if TYPE_CHECKING:
    from shelfsync.catalog.guards.case import Case, Findings


def changed_columns(case: Case) -> Findings:
    """The ERP's columns are other ones, and the operator wants to see what comes with them."""
    if not case.history.columns:
        return
    what = f"differ and the ERP's columns have changed ({'; '.join(case.history.columns)})"
    yield from judged(case, "changed_columns", case.moving, case.all_known, what)
