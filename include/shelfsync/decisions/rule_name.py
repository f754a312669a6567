"""What a rule of the guards is called before people. Commands, settings and tables have its own name."""

from __future__ import annotations

_NAMES = {"new_skus": "new SKUs"}


def rule_name(rule: str) -> str:
    """The rule in words: `price_change` is `price change`."""
    return _NAMES.get(rule, rule.replace("_", " "))


def rule_of_name(name: str) -> str:
    """The rule that a person calls so; its own name stays as it is."""
    return name.strip().lower().replace(" ", "_")
