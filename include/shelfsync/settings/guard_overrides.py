"""Which thresholds of a guard count for a store, for a category of every store, or for a category of one store: the most specific ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from shelfsync.settings.section import Section

if TYPE_CHECKING:
    from collections.abc import Mapping

    Overrides = Mapping[str, Mapping[str, Mapping[str, Any]]]
    """A store, `*/CATEGORY` or `STORE/CATEGORY` -> a rule -> those of its thresholds that differ."""

Rules = TypeVar("Rules", bound=Section)
"""The thresholds of every rule, by the rule's name."""


def thresholds_of(overrides: Overrides, plain: Rules, vendor: str, category: str | None) -> Rules:
    """All thresholds for a vendor or one of its categories. `plain`: those without any override."""
    rules = overridden(overrides, vendor, plain)
    if category is not None:
        for where in (f"*/{category}", f"{vendor}/{category}"):
            rules = overridden(overrides, where, rules)
    return rules


def categories_of(overrides: Overrides, rule: str, vendor: str) -> list[str]:
    """Categories with thresholds of their own for this rule, which are judged by themselves."""
    named = [
        where.partition("/")[2]
        for where, given in overrides.items()
        if rule in given and where.partition("/")[0] in {"*", vendor} and "/" in where
    ]
    return sorted(set(named))


def overridden(overrides: Overrides, where: str, rules: Rules) -> Rules:
    """The thresholds with those that are given for this one place. Raises ValueError if they are not valid."""
    given = overrides.get(where)
    if not given:
        return rules
    known = tuple(type(rules).model_fields)
    changed = {}
    for rule, thresholds in given.items():
        if rule not in known:
            raise ValueError(f"overrides[{where!r}]: there is no rule {rule!r}; the rules are {', '.join(known)}")
        before = getattr(rules, rule)
        try:
            changed[rule] = type(before)(**{**before.model_dump(), **thresholds})
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            name = ".".join(str(part) for part in first["loc"])
            raise ValueError(f"overrides[{where!r}].{rule}.{name}: {first['msg']}") from None
    return rules.model_copy(update=changed)
