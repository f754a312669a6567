"""What the two sync DAGs share: their form and the steps of a shard."""

from __future__ import annotations

from typing import Any

from airflow.sdk import Param, TaskGroup, chain, task_group

from shelfsync_airflow.tasks import acknowledge, batch, confirm, deliver, diff, guard, normalise
from shelfsync_airflow.wait import LAST, LATER, WaitOperator


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


def urgent_form() -> dict[str, Param]:
    """What a person has to say for an urgent run."""
    words = {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1}
    return {
        "vendors": Param([], **words, title="Vendors", description="The vendors, one vendor id a line."),
        "skus": Param(
            [], **words, title="SKUs", description="The SKUs to send at once, one a line, spelt as in the ERP."
        ),
        "dry_run": sync_form()["dry_run"],
    }


@task_group
def shard(shard: dict[str, Any]) -> None:
    """The path of some vendors, side by side with the other shards; a vendor that fails stops none of them.

    A vendor that has several bodies to send (stop-sells, then prices, then the rest) sends the next with each acknowledgement; for
    these there are two more rounds, skipped without a worker where nothing is in flight. What is left then goes on in catalog_settle.
    """
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
        _round(shard, "second", LATER),
        _round(shard, "third", LAST),
    )


def _round(shard: dict[str, Any], name: str, turn: str) -> TaskGroup:
    """Once more wait, confirm, acknowledge."""
    with TaskGroup(group_id=name) as group:
        chain(
            WaitOperator(task_id="wait", turn=turn, doc_md="Waits for the next bodies; skipped when there are none."),
            confirm(shard=shard),
            acknowledge(shard=shard),
        )
    return group
