"""The webhook receiver inside Airflow's API server, for an installation on one machine.

The API server also serves the workers, so a platform on the public internet should call the receiver that runs by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync_airflow.mounted_app import MountedApp

if TYPE_CHECKING:
    from fastapi import FastAPI

PREFIX = "/shelfsync"


def mounted_receiver() -> MountedApp:
    """What the plugin mounts."""
    answer = {"status": "refused", "reason": "the receiver is not configured"}
    return MountedApp(_receiver, loss="inbox: no event can be received", answer=answer)


def _receiver() -> FastAPI:
    from shelfsync.receiver.server import receiver_app
    from shelfsync_airflow.app import WEBHOOK, app_settings

    return receiver_app(app_settings(WEBHOOK))
