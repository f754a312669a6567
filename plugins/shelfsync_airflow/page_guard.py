"""Airflow's own rights control who may view a page, decide and stop (docs/reference/access.md). Only the API server imports this."""

from __future__ import annotations

from typing import Any

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.core_api.security import get_user, requires_access_dag
from fastapi import Depends, HTTPException, Request

from shelfsync.pages.viewer import Viewer


def page_guard(dag_id: str) -> Any:
    """A FastAPI dependency that leaves a `Viewer` in the request's state, or answers 401 or 403.

    Who may see the DAG may look, who may edit it may decide; who may edit Airflow's pools may stop and resume.
    """
    may_look = requires_access_dag(method="GET", param_dag_id=dag_id)
    may_decide = requires_access_dag(method="PUT", param_dag_id=dag_id)

    def guard(request: Request, user: Any = Depends(get_user)) -> None:  # noqa: B008  get_user has no name at module level
        may_look(request, user)
        try:
            may_decide(request, user)
        except HTTPException:
            decides = False
        else:
            decides = True
        stops = get_auth_manager().is_authorized_pool(method="PUT", user=user)
        request.state.viewer = Viewer(name=user.get_name(), may_decide=decides, may_stop=stops)

    return guard
