"""What the two sync DAGs share: their form and the steps of a shard."""

from __future__ import annotations

from typing import Any

from airflow.sdk import Param, chain, task_group

from shelfsync_airflow.tasks import acknowledge, batch, confirm, deliver, diff, guard, normalise
from shelfsync_airflow.wait import WaitOperator


def sync_form() -> dict[str, Param]:
    """What a person may say when starting a run by hand."""
    return {
        "vendors": Param(
            [],
            type=["array", "null"],
            items={"type": "string"},
            title="Vendors",
            description="One vendor id a line; empty means every vendor of the extract.",
        ),
        "dry_run": Param(
            default=False,
            type="boolean",
            title="Dry run",
            description="Go as far as the batches, send nothing, and show the plan in the report.",
        ),
    }


@task_group
def shard(shard: dict[str, Any]) -> None:
    """The path of some vendors, side by side with the other shards; a vendor that fails stops none of them."""
    chain(
        normalise(shard=shard),
        diff(shard=shard),
        guard(shard=shard),
        batch(shard=shard),
        deliver(shard=shard),
        WaitOperator(
            task_id="wait", doc_md="Waits in the triggerer until every job has ended or its deadline has passed."
        ),
        confirm(shard=shard),
        acknowledge(shard=shard),
    )
