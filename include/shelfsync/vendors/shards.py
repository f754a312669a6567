"""The vendors of a run in shards: each is one mapped task in Airflow."""

from __future__ import annotations

from typing import Any


def shards(names: list[str], run_id: int, vendors_per_shard: int, shards_max: int) -> list[dict[str, Any]]:
    """Vendors in groups of `vendors_per_shard`, or of more where that would make more than `shards_max` groups."""
    size = max(vendors_per_shard, -(-len(names) // shards_max))
    groups = [names[start : start + size] for start in range(0, len(names), size)]
    return [
        {"run": run_id, "shard": number, "vendors": group, "label": _label(group)}
        for number, group in enumerate(groups)
    ]


def _label(group: list[str]) -> str:
    return group[0] if len(group) == 1 else f"{group[0]} … {group[-1]} ({len(group)})"
