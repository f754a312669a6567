"""No text leaves a process while it holds a part of a secret of its settings, whoever wrote the text.

The settings' reader names the secrets (`mask.add`). The few exits of texts pass them through `mask`: errors, the standard streams and logs of
shelfsync's processes, the ledger's columns for people, Airflow's own masking. Eight characters in a row of a secret, in any form in which
libraries write it, become `***`. The text is looked at every four characters, with one look-up in a set each, so a line of a log costs a few
microseconds, whatever the number of secrets.
"""

from __future__ import annotations

import base64
import html
import json
import re
import sys
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, quote_plus, unquote, unquote_plus

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TextIO

MASK = "***"
PART = 8
"""So many characters in a row are a part of a secret."""
_STEP, _LOOK = 4, 5
"""A text is looked at every `_STEP` characters, `_LOOK` at a time: each part of a secret has one such place (step + look - 1 = part)."""
WORD_MIN = 4
"""A secret shorter than a part is masked where it stands as a word of its own. One that is shorter than this is masked between `:` and `@` alone."""

_ORDINARY = [
    "shelfsync",
    "shelfsync_platform",
    "shelfsync_erp",
    "shelfsync_database",
    "shelfsync_webhook",
    "shelfsync_",
    "shelfsync-",
    "postgresql://",
    "postgres",
    "mariadb",
    "localhost",
    "password",
    "secret",
    "credentials",
    "airflow",
    "database",
    "warehouse",
    "admin",
    "user",
    "test",
    "demo",
    "partner-sandbox",
    "partner_sandbox",
    "changeme",
]
"""Words of shelfsync's own messages. A secret that is no more than one of them is masked between `:` and `@` alone."""
_SAFE = ("", "/", " +", "!$&'()*+,;=:@/", "~()*!.'")
"""What libraries leave without a percent sign."""
_ENCODINGS = ("utf-8", "latin-1", "utf-16-le", "utf-16-be")
"""How the bytes of a secret stand in base64 and in hexadecimal."""
_ESCAPE = r"""(?ix: \\{1,8} (?: x ([0-9a-f]{2}) | u ([0-9a-f]{4}) | U ([0-9a-f]{8}) ) | \\{1,8} ([0-3][0-7]{2})
  | % (?:25){0,4} ([0-9a-f]{2}) | & (?:amp;){0,4} \# (?: x ([0-9a-f]{1,6}) | (\d{1,7}) ) ; | \0 )"""
_ESCAPES_MIN = 6
_ESCAPED = re.compile(rf"(?s)(?:(?:\\{{0,4}}.)?{_ESCAPE}){{{_ESCAPES_MIN},}}.?")
"""A text in which each character is escaped, or has zeros beside it: bytes of UTF-16 in a repr are one."""


class Masker:
    """Replaces the secrets that it was given, and each part of them, in any text."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Masks nothing from now on."""
        self._secrets: frozenset[str] = frozenset()
        self._parts: frozenset[str] = frozenset()
        self._looks: frozenset[str] = frozenset()
        self._short: re.Pattern[str] | None = None

    def add(self, secrets: Iterable[str]) -> None:
        """Masks these too from now on."""
        new = {secret for secret in secrets if secret.strip()} - self._secrets
        if not new:
            return
        self._secrets |= new
        forms = {form for secret in new for form in _forms(secret)}
        parts = {part for form in forms for part in _pieces(_small(form), PART)} - _ORDINARY_PARTS
        self._parts |= parts
        self._looks |= {look for part in parts for look in _pieces(part, _LOOK)}
        self._short = _short_pattern(self._secrets)

    def __call__(self, text: str) -> str:
        """The text with `***` in place of each secret and each part of one."""
        if self._secrets and sum(map(text.count, ("\\", "%", "#", "\0"))) >= _ESCAPES_MIN:
            text = _ESCAPED.sub(self._without_escaped, text)
        return self._without_secrets(text)

    def _without_escaped(self, found: re.Match[str]) -> str:
        plain = _plain(found[0])
        texts = {plain, plain.replace("\\", "")}  # a quote has backslashes of its own
        return found[0] if all(self._without_secrets(text) == text for text in texts) else MASK

    def _without_secrets(self, text: str) -> str:
        if self._short is not None:
            text = self._short.sub(MASK, text)
        if not self._looks:
            return text
        small, looks = _small(text), self._looks
        found = [at for at in range(0, len(small) - _LOOK + 1, _STEP) if small[at : at + _LOOK] in looks]
        return self._without_parts(text, small, found) if found else text

    def _without_parts(self, text: str, small: str, found: Iterable[int]) -> str:
        shown: list[str] = []
        end = 0
        for place in found:
            for at in range(max(place + _LOOK - PART, 0), place + 1):
                if small[at : at + PART] in self._parts:
                    if at > end or not shown:
                        shown += [text[end:at], MASK]
                    end = max(end, at + PART)
        return "".join(shown) + text[end:]

    def whole_forms(self) -> list[str]:
        """Each secret in each form, and the pieces between its signs: for a program with a masking of its own."""
        forms = {form for secret in self._secrets for form in _forms(secret)}
        pieces = {piece for form in forms for piece in re.split(r"[^A-Za-z0-9]+", form) if len(piece) >= PART}
        ordinary = {word.casefold() for word in _ORDINARY}
        return sorted(form for form in forms | pieces if len(form) >= WORD_MIN and form.casefold() not in ordinary)


class MaskedStream:
    """A text stream that masks what is written to it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(mask(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def masked(stream: TextIO) -> TextIO:
    """The stream, which masks what is written to it."""
    return stream if isinstance(stream, MaskedStream) else cast("TextIO", MaskedStream(stream))


def mask_streams() -> None:
    """Lets no secret of the settings leave this process on its standard streams: a library's warning, a traceback, a table, a log."""
    sys.stdout, sys.stderr = masked(sys.stdout), masked(sys.stderr)


def in_address(text: str, *, declared: bool) -> Iterator[str]:
    """The secrets inside an address or a driver's string. `declared`: the setting is a secret, and so is what else its address may hold."""
    for part in text.split("::"):  # storages in a chain: `simplecache::s3://…`
        scheme, mark, rest = part.partition("://")
        if mark:
            yield from _of_user(scheme.casefold(), rest)
            if declared and scheme.casefold().startswith("http"):
                segments = rest.partition("?")[0].split("/")[1:]
                yield from (one for one in segments if len(one) >= PART and not one.isalpha())
    yield from _named_values(text, every=declared and text.casefold().startswith("http"))


_NAMED_HOST = ("mailto", "json", "xml", "form", "http", "syslog")
"""Kinds of services whose address names a host; that of any other may begin with a token."""


def in_service(text: str) -> Iterator[str]:
    """The secrets inside the address of a messaging service, where user, host, path and parameters may each be a token."""
    yield from in_address(text, declared=True)
    scheme, _, rest = text.partition("://")
    host = rest.partition("?")[0].rpartition("@")[2].partition("/")[0].partition(":")[0]
    named = scheme.casefold().startswith(_NAMED_HOST)
    pieces = re.split(r"[/:?&=@#,]+", rest)
    yield from (one for one in pieces if len(one) >= PART and not (named and one == host))


_PORT = re.compile(r"\d{1,5}(?:[/?#]|$)")
_KEY_IS_SECRET = ("s3", "gs", "gcs", "r2", "oss", "cos", "http")
"""Kinds of addresses whose user is a key or a token."""


def _of_user(scheme: str, rest: str) -> Iterator[str]:
    """User and password before each `@`: a password with such a sign in it may stand there as it is."""
    for found in re.finditer("@", rest):
        user, colon, password = rest[: found.start()].partition(":")
        if re.search(r"[/?#\s]", user) or _PORT.match(password):
            return
        if colon:
            yield password
            yield base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode(errors="surrogatepass")).decode()
        if user and scheme.startswith(_KEY_IS_SECRET) and (colon or scheme.startswith("http")):
            yield user


_PAIR = re.compile(r"([A-Za-z][\w.-]*)\s*=\s*(\{(?:[^}]|\}\})*\}|'[^']*'|\"[^\"]*\"|[^&;\s'\"]*)")
_NAMED = re.compile(r"pass|pwd|secret|token|key|sig|credential|auth", re.IGNORECASE)
_PASSWORD = re.compile(r"(?:^|[_-])(?:password|passwd|passphrase|pwd|secret)$", re.IGNORECASE)
_NO_SECRET = re.compile(
    r"(?:path|file|dir|cert|sslkey|keyspace|mode|type|method|mechanism|auth|authenticator)$", re.IGNORECASE
)


def _named_values(text: str, *, every: bool) -> Iterator[str]:
    """The values of parameters that are named as a secret, also inside another (`?odbc_connect=…;PWD=…`). `every`: whatever their names."""
    address = "://" in text
    for name, given in _PAIR.findall(text.partition("?")[2] if address and "?" in text else text):
        value = given.strip("{}'\"")
        plain = unquote_plus(value)
        if "=" in plain.rstrip("="):
            yield from _named_values(plain, every=False)
        named = _NAMED if address else _PASSWORD
        if every or (named.search(name) and not _NO_SECRET.search(name)):
            yield value


def _forms(secret: str) -> set[str]:
    """A secret as libraries write it: as it is, with percent signs (also twice) and without, in a repr, in JSON, in HTML, in base64 and in
    hexadecimal, and in UTF-8 that was read as Latin-1.
    """
    plain = {secret, secret.strip(), unquote(secret), unquote_plus(secret)}
    forms = set(plain)
    for one in plain:
        data = one.encode("utf-8", "surrogatepass")
        signs = {quote(data, safe=safe) for safe in _SAFE} | {quote_plus(data)}
        forms |= signs | {quote(form, safe="") for form in signs}  # an address in the query of another one
        forms |= {html.escape(one), json.dumps(one)[1:-1], json.dumps(one, ensure_ascii=False)[1:-1]}
        forms |= {repr(one)[1:-1], ascii(one)[1:-1], repr(data)[2:-1]}
        forms.add(data.decode("latin-1"))
        if len(one) >= PART:
            written = {one.encode(name, "replace") for name in _ENCODINGS} | {data, quote(data, safe="").encode()}
            forms |= {encoded.hex() for encoded in written}
            codes = {code for encoded in written for code in _in_base64(encoded)}
            forms |= codes | {twice for code in _in_base64(data) for twice in _in_base64(code.encode())}
            forms |= {code.replace("+", "-").replace("/", "_") for code in codes}
    return {form for form in forms if form}


def _in_base64(data: bytes) -> list[str]:
    """The three forms that bytes have in base64 behind other bytes, such as a user and a colon, without ends that others are a part of."""
    return [
        base64.b64encode(b"\0" * shift + data).decode()[begin : 8 * (shift + len(data)) // 6]
        for shift, begin in enumerate((0, 2, 3))
    ]


def _plain(text: str) -> str:
    """The text with each escaped character as itself, and without zeros."""
    return re.sub(_ESCAPE, _character, text).replace("\0", "")


def _character(escape: re.Match[str]) -> str:
    *hexadecimal, octal, percent, html_hexadecimal, html_decimal = escape.groups()
    for digits, base in (
        (html_decimal, 10),
        (octal, 8),
        *((one, 16) for one in (*hexadecimal, percent, html_hexadecimal)),
    ):
        if digits:
            return chr(min(int(digits, base), sys.maxunicode))
    return ""


def _short_pattern(secrets: Iterable[str]) -> re.Pattern[str] | None:
    """What finds the secrets that have no part, or parts that are ordinary words."""
    words, values = set(), set()
    ordinary = {word.casefold() for word in _ORDINARY}
    for form in {form for secret in secrets for form in _forms(secret)}:
        if form.casefold() in ordinary or len(form) < WORD_MIN:
            values.add(re.escape(form))
        elif len(form) < PART or not _ORDINARY_PARTS.isdisjoint(_pieces(_small(form), PART)):
            words.add(re.escape(form))
    patterns = []
    if words:
        patterns.append(rf"(?<![A-Za-z0-9])(?:{'|'.join(sorted(words, key=len, reverse=True))})(?![A-Za-z0-9])")
    if values:
        patterns.append(rf"(?<=:)(?:{'|'.join(sorted(values, key=len, reverse=True))})(?=@)")
    return re.compile("|".join(patterns)) if patterns else None


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(len(text) - size + 1))


def _small(text: str) -> str:
    """In small letters: a library may write a host or a percent sign's digits so. The text keeps its length."""
    small = text.lower()
    return small if len(small) == len(text) else text.replace("\u0130", "i").lower()


_ORDINARY_PARTS = frozenset(part for word in _ORDINARY for part in _pieces(word, PART))

mask = Masker()
"""The one of this process."""
