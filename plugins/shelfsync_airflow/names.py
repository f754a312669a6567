"""What a chain's own DAGs, connections and assets are called: `catalog_delta_sync__north`; and so, for which chain a task works.

The chain that was alone keeps the names without a chain: its DAGs have runs, rights and switches, and other DAGs wait for its assets.
"""

from __future__ import annotations

from airflow.sdk import get_current_context

from shelfsync.chains import alone_here
from shelfsync.chosen_chain import chain_in_use, keeps_names

MARK = "__"


def of_chain(name: str, chain: str | None) -> str:
    """The name with the chain behind it; the name alone in an installation without chains, and for the chain that was alone."""
    return name if keeps_names(chain) else f"{name}{MARK}{chain}"


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
