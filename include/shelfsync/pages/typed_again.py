"""A form that was refused, with what the person has typed: it is corrected and sent again, and not typed anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.pages.shell import THRESHOLD, threshold

if TYPE_CHECKING:
    from collections.abc import Mapping

_LABELS = {
    "vendor": "store",
    "reason": "reason",
    "at": "as it was",
    "sku": "only these SKUs",
    "category": "or a category",
}


@dataclass(frozen=True)
class Again:
    """`typed`: name, label and text of the fields that a person fills in; `hidden`: the others, as they were."""

    typed: tuple[tuple[str, str, str], ...]
    hidden: dict[str, str]


def typed_again(form: Mapping[str, str]) -> Again:
    """The fields of a refused form. Those that it always needs are there also if they were empty."""
    needed = [*(["vendor"] if form.get("scope") == "vendor" else []), "reason"]
    labels = {name: label for name in {**form, **dict.fromkeys(needed)} if (label := _label(name))}
    typed = tuple((name, label, form.get(name, "")) for name, label in labels.items())
    return Again(typed, {name: text for name, text in form.items() if name not in labels})


def _label(name: str) -> str | None:
    if name.startswith(THRESHOLD):
        return threshold(name.removeprefix(THRESHOLD))
    return _LABELS.get(name)
