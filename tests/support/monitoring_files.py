"""The rules of Prometheus and the dashboard of Grafana as the documentation has them, and the metrics that they ask for."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

DOCS = Path(__file__).resolve().parents[2] / "docs"
RULES, DASHBOARD = DOCS / "reference/prometheus-rules.yaml", DOCS / "reference/grafana-dashboard.json"


def rules() -> list[dict[str, Any]]:
    [group] = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    return list(group["rules"])


def asked_metrics(prefix: str) -> set[str]:
    """Names of metrics in both files that begin so, or, with `!`, that do not."""
    panels = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    expressions = [one["expr"] for one in (*rules(), *(target for panel in panels for target in panel["targets"]))]
    names = {name for one in expressions for name in re.findall(r"\bshelfsync_\w+", one)}
    return {name for name in names if name.startswith(prefix.removeprefix("!")) != prefix.startswith("!")}
