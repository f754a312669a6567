"""What the two sync DAGs share: their form and the steps of a shard."""

from __future__ import annotations

from typing import Any

from airflow.sdk import Param, chain, task_group

from shelfsync_airflow.tasks import confirm, deliver, prepare
from shelfsync_airflow.wait import WaitOperator


def sync_form() -> dict[str, Param]:
    """The form for starting a run by hand."""
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
    """The required form of an urgent run."""
    words: dict[str, Any] = {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1}
    return {
        "vendors": Param([], **words, title="Vendors", description="The vendors, one vendor id a line."),
        "skus": Param(
            [], **words, title="SKUs", description="The SKUs to send at once, one a line, spelt as in the ERP."
        ),
        "dry_run": sync_form()["dry_run"],
    }


@task_group
def shard(shard: dict[str, Any]) -> None:
    """The path of some vendors, in parallel with the other shards; a vendor that fails stops none of them.

    All bodies of a vendor (stop-sells, then prices, then the rest) are with the platform at once. What is left goes on in
    catalog_recover.
    """
    chain(
        prepare(shard=shard),
        deliver(shard=shard),
        WaitOperator(
            task_id="wait", doc_md="Waits in the triggerer until every job has ended or its deadline has passed."
        ),
        confirm(shard=shard),
    )
