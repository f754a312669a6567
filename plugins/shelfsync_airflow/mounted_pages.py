"""The pages inside Airflow's API server. Imported by every process of Airflow: the web framework comes with the first call."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    answer = {"status": "refused", "reason": "the pages cannot be opened; the API server's log has the reason"}
    return MountedApp(_pages, loss="pages: cannot be shown", answer=answer)


def _pages() -> FastAPI:
    from shelfsync.app import shared_context
    from shelfsync.pages.app import create_app
    from shelfsync_airflow.app import app_settings
    from shelfsync_airflow.dag_states import dag_states
    from shelfsync_airflow.page_guard import page_guard

    settings = app_settings()
    return create_app(lambda: shared_context(settings), page_guard(DAG_ID), dag_states)
