"""Airflow's own rights control who may view a page, decide and stop (docs/reference/access.md); and which DAGs are switched off.

And how they start a run of a DAG. Only the API server imports this: a task has no metadata database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.api.common.trigger_dag import trigger_dag
from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.api_fastapi.core_api.security import get_user, requires_access_dag
from airflow.models.dag import DagModel
from airflow.utils.session import create_session
from airflow.utils.types import DagRunTriggeredByType
from fastapi import Depends, HTTPException, Request
from sqlalchemy import select

from shelfsync.chosen_chain import of_chain
from shelfsync.pages.rights import Viewer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping


def page_guard(dag_id: str, sync_id: str) -> Any:
    """A FastAPI dependency that leaves a `Viewer` in the request's state, or answers 401 or 403.

    Who may see the DAG may look, who may edit it may decide, who may also start runs of `sync_id` may start them. Who may edit Airflow's
    pools and `sync_id` may stop and resume: pools belong to no chain, a DAG does.
    """
    may_look = requires_access_dag(method="GET", param_dag_id=dag_id)
    may_decide = requires_access_dag(method="PUT", param_dag_id=dag_id)
    may_start = requires_access_dag(method="POST", access_entity=DagAccessEntity.RUN, param_dag_id=sync_id)
    may_edit = requires_access_dag(method="PUT", param_dag_id=sync_id)

    def guard(request: Request, user: Any = Depends(get_user)) -> None:  # noqa: B008  get_user has no name at module level
        may_look(request, user)
        decides = _has(may_decide, request, user)
        pools = get_auth_manager().is_authorized_pool(method="PUT", user=user)
        request.state.viewer = Viewer(
            name=user.get_name(),
            may_decide=decides,
            may_stop=pools and _has(may_edit, request, user),
            may_start=decides and _has(may_start, request, user),
        )

    return guard


def _has(right: Callable[[Request, Any], None], request: Request, user: Any) -> bool:
    """Whether the user has a right that Airflow requires by a 403."""
    try:
        right(request, user)
    except HTTPException:
        return False
    return True


def chains_guard(dag_ids: Mapping[str, str]) -> Any:
    """A FastAPI dependency that leaves in the request's state the chains that the user may look at, or answers 401 or 403.

    `dag_ids`: chain -> the DAG whose right is the right to look.
    """
    may_look = {chain: requires_access_dag(method="GET", param_dag_id=dag_id) for chain, dag_id in dag_ids.items()}

    def guard(request: Request, user: Any = Depends(get_user)) -> None:  # noqa: B008  get_user has no name at module level
        seen, denied = [], None
        for chain, look in may_look.items():
            try:
                look(request, user)
            except HTTPException as error:
                denied = error
            else:
                seen.append(chain)
        if denied is not None and not seen:
            raise denied
        request.state.chains = seen

    return guard


def dag_states(dag_ids: Collection[str], chain: str | None = None) -> dict[str, bool]:
    """DAG -> whether the chain's is paused, of those that Airflow has parsed and not removed since."""
    names = {of_chain(dag_id, chain): dag_id for dag_id in dag_ids}
    known = select(DagModel.dag_id, DagModel.is_paused).where(DagModel.dag_id.in_(names), DagModel.is_stale.is_(False))
    with create_session() as session:
        return {names[dag_id]: bool(is_paused) for dag_id, is_paused in session.execute(known)}


def start_run(dag_id: str, params: Mapping[str, Any], who: str, chain: str | None = None) -> None:
    """Queues a run of the chain's DAG, as the button of Airflow does."""
    trigger_dag(
        of_chain(dag_id, chain),
        triggered_by=DagRunTriggeredByType.UI,
        triggering_user_name=who,
        conf=dict(params),
        replace_microseconds=False,
    )
