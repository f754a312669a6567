"""The rules of Prometheus and the dashboard of Grafana, made from the kinds of conditions: their gauges are `alerts.open.KIND`.

The names are those of the default prefix. `shelfsync metrics` writes them, and a StatsD exporter writes the same.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

from shelfsync.alerts.kind import KINDS, Severity
from shelfsync.catalog.sku_state import NAMES
from shelfsync.metrics import prometheus_name

if TYPE_CHECKING:
    from shelfsync.alerts.kind import Kind

NOT_WATCHED_S = 600
GONE = "1d"
"""So long a chain whose metrics do not come any more is missed; then it counts as removed."""
_WHOSE = "shelfsync{{ with $labels.chain }} {{ . }}{{ end }}"
"""One rule serves every chain, and names it."""
_DATA = {"type": "prometheus", "uid": "${datasource}"}


def _metric(name: str) -> str:
    return prometheus_name("shelfsync", name)


def rules() -> str:
    """A rule each kind, and one that fires for each chain of which no watch looks or no metric comes, and if none ever came."""
    looked = _metric("alerts.looked_at")  # an instant grows old also where a writer has died and its last value stays
    last = f"max by (chain) (max_over_time({looked}[{GONE}]))"
    silent = {
        "alert": "ShelfsyncWatchSilent",
        "expr": f"time() - {last} > {NOT_WATCHED_S} or absent({looked})",
        "for": "5m",
        "labels": {"severity": str(Severity.SEVERE)},
        "annotations": {
            "summary": f"{_WHOSE}: no watch looks at what is wrong",
            "description": "The DAG alerts_watch is off, or no metric of shelfsync arrives.",
            "runbook": "docs/how-to/runbooks/dag-off.md",
        },
    }
    groups = [{"name": "shelfsync", "rules": [silent, *(_rule(kind) for kind in KINDS.values())]}]
    return "# `python -m scripts.reference` writes this file from the code.\n" + yaml.safe_dump(
        {"groups": groups}, sort_keys=False, width=200
    )


def _rule(kind: Kind) -> dict[str, Any]:
    return {
        "alert": "Shelfsync" + "".join(word.capitalize() for word in kind.name.split("_")),
        "expr": f"{_metric(f'alerts.open.{kind.name}')} > 0",
        "labels": {"severity": str(kind.severity)},
        "annotations": {
            "summary": f"{_WHOSE}: {kind.title} ({{{{ $value }}}})",
            "description": f"Customers: {kind.customers} By itself: {kind.by_itself} See `shelfsync alerts list`.",
            "runbook": kind.page,
        },
    }


def dashboard() -> str:
    """What is wrong, how late the platform is, and where the SKUs are."""
    kinds = [(kind.title, _metric(f"alerts.open.{kind.name}")) for kind in KINDS.values()]
    panels = [
        _panel("stat", "Open alerts", [("all", _metric("alerts.open")), ("severe", _metric("alerts.severe"))]),
        _panel("stat", "The watch looked (seconds ago)", [("looked", f"time() - {_metric('alerts.looked_at')}")]),
        _panel("timeseries", "Open alerts by kind", kinds),
        _panel(
            *("timeseries", "The oldest change (seconds)"),
            [
                ("not acknowledged", _metric("oldest_unacknowledged_s")),
                ("held by a guard", _metric("oldest_held_s")),
            ],
        ),
        _panel("timeseries", "SKUs", [(name, _metric(f"skus.{name}")) for name in NAMES]),
        _panel(
            *("timeseries", "Events of the platform (per minute)"),
            [
                (label, f"rate({_metric(f'inbox.{name}')}_total[5m]) * 60")
                for label, name in (
                    ("job", "events.job"),
                    ("order", "events.order"),
                    ("wrong secret", "rejected.401"),
                )
            ],
        ),
    ]
    for number, panel in enumerate(panels):
        panel |= {"id": number + 1, "gridPos": {"x": number % 2 * 12, "y": number // 2 * 8, "w": 12, "h": 8}}
    source = {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"}
    document = {
        "uid": "shelfsync",
        "title": "shelfsync",
        "schemaVersion": 39,
        "refresh": "1m",
        "time": {"from": "now-24h", "to": "now"},
        "templating": {"list": [source]},
        "panels": panels,
    }
    return json.dumps(document, indent=2) + "\n"


def _panel(kind: str, title: str, lines: list[tuple[str, str]]) -> dict[str, Any]:
    targets = [
        {"refId": f"A{number}", "expr": expression, "legendFormat": label, "datasource": _DATA}
        for number, (label, expression) in enumerate(lines)
    ]
    return {"type": kind, "title": title, "datasource": _DATA, "targets": targets}


FILES = {
    "reference/prometheus-rules.yaml": rules,
    "reference/grafana-dashboard.json": dashboard,
}
