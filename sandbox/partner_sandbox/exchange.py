"""What was sent and answered, as far as people read it: some headers and the beginning of each body, without secrets or personal data.

Whatever is masked here is masked before it is stored, so that no page, no HAR file and no copy of the database holds it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from sqlalchemy import JSON, Column, Integer, Table

from partner_sandbox.storage import metadata

exchange = Table(
    "exchange",
    metadata,
    Column("n", Integer, primary_key=True, comment="the line of the journal"),
    Column("ended_us", Integer, nullable=False),
    Column("sent", JSON, nullable=False, comment="{headers, body} of what was sent; secrets masked"),
    Column("answered", JSON, nullable=False, comment="the same of the answer"),
)
EXCERPT_BYTES = 2_000
MASK = "…"
SECRET = ("client_secret", "access_token", "refresh_token", "token", "secret", "password", "authorization", "signature")
PERSONAL = (
    *("first_name", "last_name", "phone_number", "phone", "email", "street", "city", "postal_code", "zipcode"),
    *("latitude", "longitude", "loyalty_card", "voucher_code", "comment", "instructions"),
)
WHOLE = ("customer", "delivery_address", "address", "loyalty_program")
"""Objects of which nothing is shown."""
HIDDEN = frozenset((*SECRET, *PERSONAL, *WHOLE))
_ANY_HIDDEN = re.compile("|".join(sorted(HIDDEN)), re.IGNORECASE)
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\]:,]|[^\s"{}\[\]:,]+|\s+')
_ASSIGNED = re.compile(rf"(?i)(\b(?:{'|'.join(SECRET)})\b[\"']?\s{{0,5}}[=:]\s{{0,5}}[\"']?)[^&\s\"'<>]+")
_CREDENTIALS = re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]+")
_JWT = re.compile(r"\beyJ[\w-]+\.[\w-]+\.[\w-]*")
_USER_OF_URL = re.compile(r"(?<=://)[^/@\s\"]+@")


def masked(text: str) -> str:
    """The text without secrets, and without an order's values of its customer; JSON may be cut anywhere."""
    if _ANY_HIDDEN.search(text) and text.lstrip()[:1] in {"{", "["}:
        text = _masked_json(text)
    text = _ASSIGNED.sub(rf"\1{MASK}", text)
    text = _CREDENTIALS.sub(rf"\1 {MASK}", text)
    return _USER_OF_URL.sub(f"{MASK}@", _JWT.sub(MASK, text))


def _masked_json(text: str) -> str:
    """The values of hidden names replaced, however deep they are; needs no end of the text."""
    out: list[str] = []
    within: list[tuple[bool, bool]] = []
    """Of each open object or list: whether it is a list, and whether its values are hidden."""
    value, hidden = True, False
    for piece in _PIECE.findall(text):
        shown = piece
        if piece in "{[":
            within.append((piece == "[", hidden))
            value = piece == "["
        elif piece in "}],":
            within = within if piece == "," else within[:-1]
            in_list, hidden = within[-1] if within else (True, False)
            value = in_list or piece != ","
        elif piece == ":":
            value = True
        elif not piece.isspace() and not value:
            above = within[-1][1] if within else False
            hidden = above or piece.strip('"').lower() in HIDDEN
        elif not piece.isspace() and hidden and piece != "null":
            shown = f'"{MASK}"'
        out.append(shown)
    return "".join(out)


_HEADERS = frozenset(
    (
        *("accept", "allow", "content-encoding", "content-length", "content-type"),
        *("host", "location", "retry-after", "user-agent"),
    )
)


@dataclass
class Exchange:
    """Headers and the beginning of each body, as long as they come in."""

    sent_headers: dict[str, str] = field(default_factory=dict)
    sent: bytearray = field(default_factory=bytearray)
    answered_headers: dict[str, str] = field(default_factory=dict)
    answered: bytearray = field(default_factory=bytearray)

    @staticmethod
    def of(headers: Iterable[tuple[bytes, bytes]]) -> Exchange:
        """Begins with the headers of a request."""
        return Exchange(_shown(_texts(headers)))

    def answers(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """The headers of the answer."""
        self.answered_headers = _shown(_texts(headers))

    def row(self, n: int, ended_us: int, operation: str | None) -> dict[str, Any]:
        """As the table stores it."""
        sent = _excerpt(self.sent)
        sent = _form(sent) if operation == "token" else masked(sent)
        return {
            "n": n,
            "ended_us": ended_us,
            "sent": {"headers": self.sent_headers, "body": sent},
            "answered": {"headers": self.answered_headers, "body": masked(_excerpt(self.answered))},
        }


def keep(into: bytearray, piece: bytes) -> None:
    """Adds to an excerpt what still has room."""
    if len(into) < EXCERPT_BYTES:
        into += piece[: EXCERPT_BYTES - len(into)]


def caller_of(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """A digest of the token that came with a request, by which its requests are known; None without one."""
    given = _texts(headers).get("authorization")
    return None if given is None else hashlib.sha256(given.encode()).hexdigest()[:12]


def _excerpt(body: bytearray) -> str:
    return body.decode("utf-8", "replace")


FORM_NAMES = frozenset({"grant_type", "client_id", "client_secret", "scope", "audience", "username", "password"})


def _form(body: str) -> str:
    """The fields of a request for a token: a caller who mistakes its form may have put the secret anywhere."""
    shown = []
    for name, value in parse_qsl(body, keep_blank_values=True):
        known = name if name in FORM_NAMES else MASK
        shown.append(f"{known}={value if name in {'grant_type', 'client_id'} else MASK}")
    return "&".join(shown)


def _texts(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}


def _shown(headers: dict[str, str]) -> dict[str, str]:
    """The headers that matter; of a token only that there is one."""
    shown = {name: masked(text) for name, text in headers.items() if name in _HEADERS or name.startswith("x-sandbox")}
    if "authorization" in headers:
        scheme, space, _ = headers["authorization"].partition(" ")
        shown["authorization"] = f"{scheme} {MASK}" if space and scheme.lower() in {"bearer", "basic"} else MASK
    return shown
