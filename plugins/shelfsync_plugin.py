"""Registers what shelfsync adds to Airflow's API server; the parts themselves are in `shelfsync_airflow`."""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin

from shelfsync_airflow import api_server


class ShelfsyncPlugin(AirflowPlugin):
    """The pages at /shelfsync/pages of the API server and in its navigation and tabs, the webhook receiver at /shelfsync/webhook, and what a connection's test needs."""

    name = "shelfsync"
    fastapi_apps = [  # noqa: RUF012  Airflow's shape; the longer prefix first, or the shorter would take its calls
        {"app": api_server.mounted_pages(), "url_prefix": api_server.PAGES_PREFIX, "name": "shelfsync pages"},
        {
            "app": api_server.mounted_receiver(),
            "url_prefix": api_server.RECEIVER_PREFIX,
            "name": "shelfsync webhook receiver",
        },
    ]
    fastapi_root_middlewares = [  # noqa: RUF012  Airflow's shape
        {"middleware": api_server.BlankPort, "name": "shelfsync test of a connection without a port"}
    ]
    external_views = [api_server.VIEW, api_server.OF_DAG, api_server.OF_RUN]  # noqa: RUF012  Airflow's shape
