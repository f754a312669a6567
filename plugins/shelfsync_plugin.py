"""Registers what shelfsync adds to Airflow's API server; the parts themselves are in `shelfsync_airflow`."""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin

from shelfsync_airflow import blank_port, mounted_pages, mounted_receiver


class ShelfsyncPlugin(AirflowPlugin):
    """The pages at /shelfsync/pages of the API server and in its navigation, the webhook receiver at /shelfsync/webhook, and what a connection's test needs."""

    name = "shelfsync"
    fastapi_apps = [  # noqa: RUF012  Airflow's shape; the longer prefix first, or the shorter would take its calls
        {"app": mounted_pages.mounted_pages(), "url_prefix": mounted_pages.PREFIX, "name": "shelfsync pages"},
        {
            "app": mounted_receiver.mounted_receiver(),
            "url_prefix": mounted_receiver.PREFIX,
            "name": "shelfsync webhook receiver",
        },
    ]
    fastapi_root_middlewares = [  # noqa: RUF012  Airflow's shape
        {"middleware": blank_port.BlankPort, "name": "shelfsync test of a connection without a port"}
    ]
    external_views = [mounted_pages.VIEW]  # noqa: RUF012  Airflow's shape
