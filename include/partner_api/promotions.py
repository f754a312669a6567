"""Promotions (interface.md 2.4 and 4.7; further values and the status of the field notes)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from partner_api import json_values
from partner_api.call import Call
from partner_api.catalog import JSON, receipt
from partner_api.errors import InvalidRequestError
from partner_api.exchange import judged
from partner_api.jobs import job_state, status_body
from partner_api.json_values import dumps, instant_text, present

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping, Sequence
    from decimal import Decimal

    from partner_api.jobs import Job
    from partner_api.json_values import Raw
    from partner_api.sender import StreamedBody
    from partner_api.session import Session


@dataclass(frozen=True, slots=True)
class Discount:
    """One group of SKUs. `value`: the final price, the percentage (1 to 100) or the amount off, depending on `subtype`.

    `active=False` removes these SKUs from the running promotion.
    """

    skus: tuple[str, ...]
    value: Decimal
    subtype: str = "FINAL_PRICE"
    active: bool = True
    max_quantity: int | None = None

    def wire(self) -> dict[str, Any]:
        """As the platform reads it."""
        if not self.skus or not all(self.skus):
            raise InvalidRequestError("a discount names no SKU, or an empty one", operation="put_promotion")
        if (
            not self.value.is_finite()
            or self.value < 0
            or (self.subtype == "PERCENTAGE" and not 1 <= self.value <= 100)
        ):
            raise InvalidRequestError(f"{self.value} is no {self.subtype} discount", operation="put_promotion")
        return present(
            {
                "discount_subtype": self.subtype,
                "discount_value": self.value,
                "active": self.active,
                "sku": list(self.skus),
                "max_quantity": self.max_quantity,
            }
        )


@dataclass(frozen=True, slots=True)
class Promotion:
    """The body of the promotion PUT. Its identity is display name, vendors, start and end: a change of one makes a second promotion.

    `display_name`: locale (`en_GB`) to text; instants are aware; `conditions` and `limits`: further fields as the platform names them.
    To end it, send the same body with `active=False`.
    """

    vendors: tuple[str, ...]
    display_name: Mapping[str, str]
    start_time: dt.datetime
    end_time: dt.datetime
    discounts: tuple[Discount, ...]
    active: bool = True
    type: str = "STRIKETHROUGH"
    reason: str = "COMPETITIVENESS"
    conditions: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, Any] = field(default_factory=dict)

    def wire(self) -> dict[str, Any]:
        """As the platform reads it; InvalidRequestError for a body that the platform rejects as a whole."""
        if not self.vendors or not self.display_name or not self.discounts:
            raise InvalidRequestError(
                "a promotion needs vendors, a display name and discounts", operation="put_promotion"
            )
        if self.start_time >= self.end_time:
            raise InvalidRequestError("a promotion ends after it has begun", operation="put_promotion")
        body: dict[str, Any] = {
            "vendors": list(self.vendors),
            "type": self.type,
            "active": self.active,
            "reason": self.reason,
            "display_name": dict(self.display_name),
            "conditions": {
                **self.conditions,
                "start_time": instant_text(self.start_time, milliseconds=True),
                "end_time": instant_text(self.end_time, milliseconds=True),
            },
            "discount": [discount.wire() for discount in self.discounts],
        }
        if self.limits:
            body["limits"] = dict(self.limits)
        return body


@dataclass(frozen=True, slots=True)
class PromotionStatus:
    """The state of a promotion's job, and what it left out. DUPLICATE: the platform already has this promotion."""

    job_id: str
    status: str | None
    invalid_vendors: tuple[str, ...]
    missing_skus: dict[str, tuple[str, ...]]
    invalid_discounted_skus: dict[str, tuple[str, ...]]
    created_at: dt.datetime | None
    updated_at: dt.datetime | None
    raw: Raw = field(repr=False)

    @classmethod
    def read(cls, job_id: str, raw: Raw) -> PromotionStatus:
        result = json_values.mapping(raw.get("result"))
        return cls(
            job_id,
            job_state(raw),
            json_values.texts(result.get("invalid_vendors") or []),
            _by_vendor(result.get("missing_skus")),
            _by_vendor(result.get("invalid_discounted_skus")),
            json_values.instant(raw, "created_at"),
            json_values.instant(raw, "updated_at"),
            raw,
        )


def _by_vendor(value: Any) -> dict[str, tuple[str, ...]]:
    return {vendor: json_values.texts(skus or []) for vendor, skus in json_values.mapping(value).items()}


def put_promotion(
    session: Session,
    promotion: Promotion | bytes | StreamedBody,
    vendors: Sequence[str],
    *,
    priority: str = "promotion",
) -> Job:
    """Creates, changes or ends a promotion. The answer is a receipt; `promotion_status` returns the result.

    `promotion`: the promotion, or the whole JSON text of the body, sent with its exact length. `vendors`: those that it
    names, for the gate.
    """
    call = Call(
        "put_promotion",
        priority,
        tuple(vendors),
        "PUT",
        session.url(session.dialect.promotion_path),
        body=dumps(promotion.wire()) if isinstance(promotion, Promotion) else promotion,
        headers=JSON,
    )
    answer = judged(session, call)
    return receipt(session, call, answer, at_once=False)


def promotion_status(session: Session, job_id: str, *, priority: str = "promotion") -> PromotionStatus:
    """The state of a promotion's job. NotEnabledError: the dialect has no such call."""
    path = session.dialect.promotion_status_path
    return PromotionStatus.read(job_id, status_body(session, "promotion_status", path, job_id, priority))
