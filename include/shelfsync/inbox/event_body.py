"""Parses the body of a webhook event. A missing value stays None; nothing is guessed.

A job event is {job_id, status, download_url, platform_vendor_id} in one of several spellings. An order event is the order
itself, without an envelope (interface.md 6, field notes).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from partner_api.json_values import DIGITS_MAX, decimal
from shelfsync.inbox import event_identity
from shelfsync.inbox.personal_data import split_personal_data
from shelfsync.storable import is_encodable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

TEXT_LENGTH_MAX = 255
"""Of identifiers, states, codes and times, in characters; two of them fit into one key of a PostgreSQL index (2,704 bytes)."""
ITEMS_MAX = 2000
_FREE = frozenset({"name"})
"""Fields that no index holds. Only the limit of the whole body applies to them."""


def exceeded_limit(harmless: Mapping[str, Any]) -> str | None:
    """The limit that the harmless part of an order (`personal_data.py`) exceeds, without any value of it; None: no limit."""
    for name, value in harmless.items():
        if isinstance(value, str):
            if len(value) > TEXT_LENGTH_MAX and name not in _FREE:
                return f"{name} is longer than {TEXT_LENGTH_MAX} characters"
        elif isinstance(value, dict):
            if (why := exceeded_limit(value)) is not None:
                return why
        elif isinstance(value, list):
            if len(value) > ITEMS_MAX:
                return f"{name} are more than {ITEMS_MAX}"
            for entry in value:
                if (why := exceeded_limit(entry)) is not None:
                    return why
    return None


NESTING_MAX = 64
ENDED_STATUSES = ("COMPLETED", "FAILED")


class UnreadableEventError(ValueError):
    """The body is no event: not JSON, not an object, or ambiguous. The message has the reason and never quotes the body."""


@dataclass(frozen=True, slots=True)
class Received:
    """An event as received. A repeat of the same event has the same `identity` (`event_identity`)."""

    kind: Literal["job", "order", "unknown"]
    identity: str
    platform_job_id: str | None
    vendor: str | None
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class JobReport:
    """The report of one event about a job. `status`: in capitals. A field that the event lacks is None."""

    status: str | None
    download_url: str | None = field(repr=False)
    vendor: str | None
    feedback: Any = field(repr=False)

    @property
    def has_ended(self) -> bool:
        """True if the platform reports that the job has completed or failed."""
        return self.status in ENDED_STATUSES


def read(body: bytes) -> Received:
    """The event in a body. UnreadableEventError: the body is not an event.

    An event of neither a job nor an order is of the kind `unknown`: the platform may send more than its document describes.
    """
    event = parse(body)
    order_id = _text(event.get("order_id"))
    if (order_id is not None or isinstance(event.get("order_id"), str)) and (
        why := exceeded_limit(split_personal_data(event)[0])
    ) is not None:
        raise UnreadableEventError(f"is an order whose {why}")
    if order_id is not None:
        store = _text(_object(event.get("client")).get("store_id")) or _text(event.get("store_id"))
        updated_at = _text(_object(event.get("sys")).get("updated_at"))
        identity = event_identity.of_order(order_id, _text(event.get("status")), updated_at, body)
        return Received("order", identity, None, store, body)
    job_id = _text(event.get("job_id"))
    if job_id is not None:
        return Received("job", event_identity.of_job(job_id, event), job_id, job_report(event).vendor, body)
    return Received("unknown", event_identity.of_unknown(body), None, None, body)


def job_report(event: dict[str, Any]) -> JobReport:
    """A parsed job event in one spelling."""
    result = _object(event.get("result"))
    status = _text(event.get("status")) or _text(event.get("job_status"))
    links = (event.get(name) or result.get(name) for name in ("download_url", "downloadURL", "downloadUrl"))
    return JobReport(
        status=None if status is None else status.upper(),
        download_url=next((link for link in links if isinstance(link, str)), None),
        vendor=_text(event.get("platform_vendor_id")) or _text(event.get("vendor_id")),
        feedback=result.get("item_level_feedback"),
    )


def parse(body: bytes) -> dict[str, Any]:
    """The object in a body, with exact fractions. The receiver and the steps use this one parser.

    It rejects NaN and Infinity, a key with two values, and too much depth or too many digits. A fraction that is too large
    for any use becomes null.
    """
    try:
        event = json.loads(
            body,
            object_pairs_hook=_object_of_pairs,
            parse_constant=_no_constant,
            parse_int=_whole_number,
            parse_float=_fraction,
        )
    except UnreadableEventError:
        raise
    except RecursionError:
        raise UnreadableEventError("is nested too deeply") from None
    except ValueError:  # no JSON, or no text; its message would quote the body
        raise UnreadableEventError("is not JSON") from None
    if not isinstance(event, dict):
        raise UnreadableEventError("is not a JSON object")
    if body.count(b"[") + body.count(b"{") > NESTING_MAX and _depth_exceeds(event, NESTING_MAX):
        raise UnreadableEventError("is nested too deeply")
    return event


def _object_of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    merged = dict(pairs)
    if len(merged) < len(pairs) and any(merged[key] != value for key, value in pairs):
        raise UnreadableEventError("has a key with two values")
    return merged


def _no_constant(_name: str) -> Any:
    raise UnreadableEventError("has a number that is none")


def _whole_number(text: str) -> int:
    if len(text) > DIGITS_MAX:
        raise UnreadableEventError("has a number of too many digits")
    return int(text)


def _fraction(text: str) -> Decimal | None:
    if len(text) > DIGITS_MAX:
        raise UnreadableEventError("has a number of too many digits")
    return decimal({"value": text}, "value")


def _depth_exceeds(event: Any, most: int) -> bool:
    """Works without recursion, because it protects against recursion."""
    level = [event]
    for _ in range(most):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    """Text or a whole number as text that a database can hold; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value).strip()
    if not 0 < len(text) <= TEXT_LENGTH_MAX or "\x00" in text or not is_encodable(text):
        return None
    return text
