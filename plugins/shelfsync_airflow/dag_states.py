"""Which DAGs are switched off, for the pages. Only the API server can read this: a task has no metadata database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow.models.dag import DagModel
from airflow.utils.session import create_session
from sqlalchemy import select

if TYPE_CHECKING:
    from collections.abc import Collection


def dag_states(dag_ids: Collection[str]) -> dict[str, bool]:
    """DAG id -> whether it is paused, of those that Airflow has parsed and not removed since."""
    known = select(DagModel.dag_id, DagModel.is_paused).where(
        DagModel.dag_id.in_(dag_ids), DagModel.is_stale.is_(False)
    )
    with create_session() as session:
        return {dag_id: bool(is_paused) for dag_id, is_paused in session.execute(known)}
