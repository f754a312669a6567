"""What a chain's own DAGs, connections and assets are called: `catalog_delta_sync__north`; and so, for which chain a task works."""

from __future__ import annotations

from airflow.sdk import get_current_context

from shelfsync.chosen_chain import chain_in_use

MARK = "__"


def of_chain(name: str, chain: str | None) -> str:
    """The name with the chain behind it; the name alone in an installation without chains."""
    return name if chain is None else f"{name}{MARK}{chain}"


def chain_of(name: str) -> str | None:
    """The chain in such a name."""
    return name.partition(MARK)[2] or None


def chain_of_task() -> str | None:
    """The chain of the DAG whose task runs now; outside a task, the one that SHELFSYNC_CHAIN names."""
    try:
        dag_id = get_current_context()["dag"].dag_id
    except RuntimeError:
        return chain_in_use()
    return chain_of(dag_id)
