"""For which chain a task works, by the name of its DAG: `catalog_delta_sync__north`.

The chain that was alone keeps the names without a chain: its DAGs have runs, rights and switches, and other DAGs wait for its assets.
"""

from __future__ import annotations

from airflow.sdk import get_current_context

from shelfsync.chains import alone_here
from shelfsync.chosen_chain import MARK, chain_in_use


def chain_of(name: str) -> str | None:
    """The chain in such a name, or the one that was alone."""
    return name.partition(MARK)[2] or alone_here()


def chain_of_task() -> str | None:
    """The chain of the DAG whose task runs now; outside a task, the one that SHELFSYNC_CHAIN names."""
    try:
        dag_id = get_current_context()["dag"].dag_id
    except RuntimeError:
        return chain_in_use()
    return chain_of(dag_id)
