"""Forms as browsers send them."""

from __future__ import annotations

from urllib.parse import parse_qs

from fastapi import Request

from partner_sandbox.errors import ApiError, invalid

FORM_BYTES_MAX = 256 * 1024
FIELDS_MAX = 2000


class Form:
    """Field by field; a field may stand there several times."""

    def __init__(self, fields: dict[str, list[str]]) -> None:
        self._fields = fields

    def all(self, name: str) -> list[str]:
        return self._fields.get(name, [])

    def text(self, name: str) -> str:
        """Without the spaces around it; empty when it is not there."""
        return self._fields.get(name, [""])[0].strip()

    def ticked(self, name: str) -> bool:
        return bool(self.text(name))

    def number(self, name: str) -> float | None:
        """None when it is empty."""
        text = self.text(name).replace(",", ".")
        if not text:
            return None
        try:
            number = float(text)
        except ValueError:
            raise invalid(name, "must be a number") from None
        if not abs(number) < 1e12:
            raise invalid(name, "is too large")
        return number

    def back(self, otherwise: str) -> str:
        """The page of the portal to return to; never another site."""
        wanted = self.text("back")
        inside = wanted == "/portal" or wanted.startswith(("/portal/", "/portal?"))
        return wanted if inside and not set(wanted) & set("\\\r\n") else otherwise


async def read(request: Request) -> Form:
    """The form of a request; 413 for one that no page of the portal sends."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > FORM_BYTES_MAX:
            raise ApiError(413, "PAYLOAD_TOO_LARGE", f"A form has at most {FORM_BYTES_MAX} bytes")
    try:
        return Form(parse_qs(body.decode(), keep_blank_values=True, max_num_fields=FIELDS_MAX, errors="strict"))
    except ValueError:
        raise invalid("", "the body is no form") from None
