"""Registers what shelfsync adds to Airflow's API server; the parts themselves are in `shelfsync_airflow`."""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin

from shelfsync_airflow.mounted_receiver import PREFIX, MountedReceiver


class ShelfsyncPlugin(AirflowPlugin):
    """The webhook receiver, at /shelfsync/webhook of the API server."""

    name = "shelfsync"
    fastapi_apps = [{"app": MountedReceiver(), "url_prefix": PREFIX, "name": "shelfsync webhook receiver"}]  # noqa: RUF012  Airflow's shape
