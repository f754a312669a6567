"""Order events and picking results with faults: a valid one with something strange in some of its places."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from orders_bodies import body, item

STRANGE_TEXTS = [
    "", " ", "\x00", "a\x00b", "\ud800", "\ufeff", "\u202e", "\r\n", "'; DROP TABLE x; --", "../../x", "<script>", "{{x}}", "%00", "%s",
    "NaN", "Infinity", "-0", "1e400", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-14:00", "2026-02-30T00:00:00Z", "x" * 255, "x" * 256,
    "\u4e00" * 255, "\U0001f600" * 255, "x" * 10_000, "".join(map(chr, range(0x4E00, 0x4E00 + 10_000))),
]  # fmt: skip
STRANGE_NUMBERS = [
    Decimal(text)
    for text in (
        "0", "-1", "1E+90", "-1E+90", "1E-90", "1E+12", "1E+13", "999999999999.999", "0.0005", "1E+27", "1E+28", "2147483648",
        "9223372036854775808", "1E+100", "123456789012345678901234567890", "0." + "3" * 90,
    )
]  # fmt: skip
RAW_NUMBERS = [
    "1e400",
    "-1e999999999",
    "9" * 99,
    "9" * 5000,
    "0." + "9" * 5000,
    "NaN",
    "Infinity",
    "-0",
    "1E-999999999999",
]
"""What Python cannot hold as a number, as text of the body."""
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1"]

strange = st.one_of(
    st.sampled_from(STRANGE_TEXTS),
    st.sampled_from(STRANGE_NUMBERS),
    st.sampled_from([None, True, False, [], {}, [[]], {"x": []}, [None], {"": ""}]),
    st.text(max_size=20),
    st.integers(),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a body, as the keys that lead to it."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, one in inner for place in places(one, (*path, key)))]


@st.composite
def mutated(draw: st.DrawFn, good: dict[str, Any]) -> dict[str, Any]:
    """A good body with one to three places that hold something strange, or are missing, or have an unknown neighbour."""
    made = copy.deepcopy(good)
    for _ in range(draw(st.integers(1, 3))):
        found = [one for one in places(made) if one]
        if not found:
            break
        place = draw(st.sampled_from(found))
        holder = made
        for key in place[:-1]:
            holder = holder[key]
        match draw(st.sampled_from(["put", "put", "put", "remove", "beside"])):
            case "put":
                holder[place[-1]] = copy.deepcopy(draw(strange))
            case "remove":
                del holder[place[-1]]
            case _ if isinstance(holder, dict):
                holder[draw(st.sampled_from(STRANGE_TEXTS))] = copy.deepcopy(draw(strange))
    return made


@st.composite
def encoded(draw: st.DrawFn, bodies: st.SearchStrategy[dict[str, Any]]) -> bytes:
    """A body as bytes, most of them JSON: in some encoding, with a number that no program can hold, cut, or nested."""
    text = as_text(draw(bodies))
    match draw(st.sampled_from(["plain"] * 6 + ["number", "cut", "nested", "twice"])):
        case "number":
            text = text[:-1] + f', "n": {draw(st.sampled_from(RAW_NUMBERS))}}}'
        case "cut":
            text = text[: draw(st.integers(0, len(text)))]
        case "nested":
            text = text[:-1] + ', "n": ' + "[" * draw(st.sampled_from([60, 70, 3000])) + "}"
        case "twice":
            text = text[:-1] + ', "status": 1}'
    return text.encode(draw(st.sampled_from(["utf-8"] * 5 + ENCODINGS)), "replace")


def as_text(value: Any) -> str:
    """JSON, numbers exact; lone surrogates stay the escapes that they are in JSON."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(str(name))}:{as_text(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(as_text(one) for one in value) + "]"
    return str(value) if isinstance(value, Decimal) else json.dumps(value)


def order_bodies(order_id: str) -> st.SearchStrategy[dict[str, Any]]:
    """Events about this order, most of them faulty."""
    customer = {"first_name": "Robin", "phone_number": "+10000000000"}
    cheese = item("CHEESE", 2, weight=Decimal("0.5"))
    cheese["original_pricing"] = copy.deepcopy(cheese["pricing"])
    cheese["promotion"] = [
        {"name": "p", "type": "t", "discount_amount": 1, "sponsorships": [{"sponsor": "VENDOR", "amount": 1}]}
    ]
    good = body(item("MILK", 1), cheese, order_id=order_id, customer=customer, cancellation={"reason": "CLOSED"})
    return mutated(good)


def result_bodies() -> st.SearchStrategy[dict[str, Any]]:
    """Picking results, most of them faulty."""
    good = {
        "result_id": "r-1",
        "action": "fulfil",
        "confirmed_amount": Decimal("4.5"),
        "check_first": False,
        "items": [
            {
                "sku": "MILK",
                "status": "picked",
                "quantity": 1,
                "unit_price": Decimal("1.5"),
                "total_price": Decimal("1.5"),
            },
            {"sku": "CHEESE", "status": "picked", "weight": Decimal("0.4")},
            {
                "sku": "JAM",
                "status": "replaced",
                "replaced_by": {"sku": "HONEY", "quantity": 1, "unit_price": Decimal(1)},
            },
            {"sku": "BREAD", "status": "added", "quantity": 1},
        ],
    }
    other = {"action": "accept", "accepted_for": "2026-03-01T18:30:00Z"}
    return mutated(good) | mutated(other) | mutated({"action": "cancel", "reason": "CLOSED"})
