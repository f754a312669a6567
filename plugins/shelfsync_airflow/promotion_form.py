"""The form for starting a run of promotions by hand."""

from __future__ import annotations

from airflow.sdk import Param


def promotion_form() -> dict[str, Param]:
    """A dry run or not."""
    return {
        "dry_run": Param(
            default=False,
            type="boolean",
            title="Dry run",
            description="Go as far as the plan, send nothing, and show it in the report.",
        ),
    }
