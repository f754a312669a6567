"""The pages inside Airflow's API server: Airflow says who looks, and a person who may edit the sync DAG may decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import Depends, HTTPException, Request

from shelfsync_airflow.mounted_app import MountedApp

if TYPE_CHECKING:
    from fastapi import FastAPI

PREFIX = "/shelfsync/pages"
DAG_ID = "catalog_full_sync"
"""The right to see this DAG is the right to look; the right to edit it is the right to decide."""

VIEW = {
    "name": "shelfsync",
    "href": f"{PREFIX.lstrip('/')}/",
    "destination": "nav",
    "url_route": "shelfsync",
    "nav_top_level": True,
}


def mounted_pages() -> MountedApp:
    """What the plugin mounts."""
    answer = {"status": "refused", "reason": "the pages cannot be opened; the API server's log says why"}
    return MountedApp(_pages, loss="pages: cannot be shown", answer=answer)


def _pages() -> FastAPI:
    from shelfsync.pages.app import create_app
    from shelfsync.wiring import shared_house
    from shelfsync_airflow.house import house_settings

    settings = house_settings()
    return create_app(lambda: shared_house(settings), _guard())


def _guard() -> Any:
    """The import is here because it loads Airflow's whole API, which every other process can do without."""
    from airflow.api_fastapi.core_api.security import get_user, requires_access_dag

    may_look = requires_access_dag(method="GET", param_dag_id=DAG_ID)
    may_decide = requires_access_dag(method="PUT", param_dag_id=DAG_ID)

    def guard(request: Request, user: Any = Depends(get_user)) -> None:  # noqa: B008  get_user has no name at module level
        from shelfsync.pages.viewer import Viewer

        may_look(request, user)
        try:
            may_decide(request, user)
        except HTTPException:
            decides = False
        else:
            decides = True
        request.state.viewer = Viewer(name=user.get_name(), may_decide=decides)

    return guard
