"""The assets whose events report that a run of the whole chain succeeded: a DAG of the operator can wait for them.

A run reports by an alias, because only its end shows whether there is an event: a dry run and a run of some vendors have none.
"""

from __future__ import annotations

from typing import Any

from airflow.sdk import Asset, AssetAlias, get_current_context

from shelfsync.chosen_chain import chain_in_use, of_chain

CATALOG_SYNCED = "shelfsync_catalog_synced"
"""Every store has ended a full or delta sync without a failure."""
EXPORT_OBSERVED = "shelfsync_export_observed"
"""The exports of every store are in the warehouse, with what differs from the ERP."""
PROMOTIONS_SYNCED = "shelfsync_promotions_synced"
"""The promotions of the ERP are with the platform."""


def emitting(asset: str, report: Any) -> Any:
    """The task `report` of the chain in use, which may emit that asset at its end."""
    return report.override(outlets=[AssetAlias(of_chain(asset, chain_in_use()))])


def emit(run: int | str, state: str) -> None:
    """Adds the event of the task that runs now: number and state of its run of shelfsync; of an export its key, because it has no number.

    A run that did not send everything adds none: of a part of the chain, with a store passed over, while sending is paused.
    """
    context = get_current_context()
    params = context["params"]
    if params.get("dry_run") or params.get("vendors") or state != "succeeded":
        return
    for outlet in context["task"].outlets:
        if isinstance(outlet, AssetAlias):
            context["outlet_events"][outlet].add(Asset(outlet.name), extra={"run": run, "state": state})
