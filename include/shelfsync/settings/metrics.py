"""Where numbers go outside Airflow."""

from __future__ import annotations

from pydantic import Field

from shelfsync.settings.section import Section


class MetricsSettings(Section):
    """Numbers of the command line and the webhook receiver; inside Airflow its own `[metrics]` section decides."""

    statsd: str | None = None
    """HOST:PORT of a StatsD server (UDP); without it no numbers are sent."""
    prefix: str = Field("shelfsync", min_length=1)
