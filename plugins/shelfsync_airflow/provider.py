"""What the installation of shelfsync reports to Airflow: a connection type with its form, and the options of the DAGs."""

from __future__ import annotations

from typing import Any


def provider_info() -> dict[str, Any]:
    """The entry point of the group `apache_airflow_provider`."""
    return {
        "package-name": "shelfsync",
        "name": "shelfsync",
        "description": "Keeps the catalog of a delivery platform equal to a retail chain's ERP.",
        "connection-types": [
            {
                "connection-type": "shelfsync_platform",
                "hook-name": "shelfsync delivery platform",
                "hook-class-name": "shelfsync_airflow.connections.PlatformHook",
                "ui-field-behaviour": {
                    "hidden-fields": ["schema", "port"],
                    "relabeling": {"host": "Base URL", "login": "Client id", "password": "Client secret"},
                    "placeholders": {"host": "https://partner.example.com"},
                },
                "conn-fields": {
                    "chain": {
                        "label": "Chain id",
                        "description": "The chain that the stores belong to.",
                        "schema": {"type": ["string", "null"]},
                    },
                    "token": {
                        "label": "Static token",
                        "description": "A token of the partner portal that does not expire, instead of client id and secret.",
                        "schema": {"type": ["string", "null"], "format": "password"},
                    },
                },
            }
        ],
        "config": {"shelfsync": {"description": "The DAGs of shelfsync.", "options": _options()}},
    }


def _options() -> dict[str, Any]:
    from shelfsync_airflow.options import OPTIONS

    return {
        name: {
            "description": option.description,
            "version_added": "0.1.0",
            "type": option.kind,
            "example": option.example,
            "default": option.default,
        }
        for name, option in OPTIONS.items()
    }
