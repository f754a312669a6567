"""Which addresses a download may go to (I12). One strict grammar: the client sends no packet to a link that does not fit it.

Three checks, one after the other: the text of the link, the host against the allowed ones, and each address the host resolves to.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import unquote

from partner_api.errors import LinkNotAllowedError, MisconfiguredError

LINK_CHARS_MAX = 8192
_PORTS = {"https": 443, "http": 80}
_LINK = re.compile(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?(?P<target>(?:/[!-~]*)?(?:\?[!-~]*)?)",
    re.ASCII | re.IGNORECASE,  # without ASCII the letters U+017F and U+212A count as s and k
)
_FORBIDDEN_IN_TARGET = re.compile(r"[\\\"<>^`{|}]")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_PUBLIC_V6 = ipaddress.ip_network("2000::/3")
"""Global unicast; what lies outside is local, special or not given out, whatever this Python's table knows of it."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_V4_COMPATIBLE = ipaddress.ip_network("::/96")


@dataclass(frozen=True, slots=True)
class Link:
    """An http(s) address in its parts. `target`: path and query; never shown, as a query may hold a signature."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port: what a token belongs to."""
        return (self.scheme, self.host, self.port)

    @property
    def url(self) -> str:
        return f"{self.authority}{self.target or '/'}"

    @property
    def authority(self) -> str:
        """The address up to its path: safe to show."""
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}"

    def __repr__(self) -> str:
        return f"Link({self.authority}/…)"


def parse(text: str) -> Link:
    """A link in its one allowed form: absolute http(s), ASCII, no user, no backslash, no control character; a fragment is dropped."""
    if not isinstance(text, str) or len(text) > LINK_CHARS_MAX:
        raise LinkNotAllowedError(f"the link is not text of at most {LINK_CHARS_MAX} characters")
    match = _LINK.fullmatch(text.split("#", 1)[0])
    if match is None or _FORBIDDEN_IN_TARGET.search(match["target"]):
        raise LinkNotAllowedError(
            "the link is not a plain absolute http(s) address without user name and unusual characters"
        )
    scheme = match["scheme"].lower()
    port = int(match["port"] or _PORTS[scheme])
    if port > 65535 or ".." in match["host"]:
        raise LinkNotAllowedError("the link has no possible port or host")
    return Link(scheme, match["host"].lower(), port, match["target"])


@dataclass(frozen=True, slots=True)
class LinkPolicy:
    """`platform`: the base address. `hosts`: `name` (on the scheme's own port) or `name:port`.

    `private_hosts`: names that may be in a private network and be reached without TLS (a test platform among containers).
    """

    platform: Link
    hosts: frozenset[str]
    private_hosts: frozenset[str]
    result_paths: tuple[str, ...] = ()
    """Where the platform itself serves logs and exports; the token goes to no other path by a link. Empty: not known."""
    operations: tuple[str, ...] = ()
    """Paths that serve something else: `{name}` is one segment, `…` at the end any further path."""

    def check(self, link: Link) -> None:
        """Raises LinkNotAllowedError unless scheme, host and port are allowed, and on the platform's own host the path."""
        if link.origin == self.platform.origin:
            if not self._serves_results(link):
                raise LinkNotAllowedError(
                    f"the link leads to a path of {link.authority} that serves no logs or exports",
                    remedy=f"If the platform serves them there, name the path in the dialect's result_paths, now {list(self.result_paths)};"
                    " otherwise treat it as an attack",
                )
        else:
            wanted = {f"{link.host}:{link.port}"} | ({link.host} if link.port == _PORTS[link.scheme] else set())
            if not wanted & self.hosts:
                raise LinkNotAllowedError(
                    f"the link leads to {link.authority}, which is neither the platform nor an allowed host"
                )
        if link.scheme == "http" and not (is_loopback_name(link.host) or link.host in self.private_hosts):
            raise LinkNotAllowedError(f"the link to {link.authority} is not https")

    def _serves_results(self, link: Link) -> bool:
        path = link.target.partition("?")[0]
        if not self.result_paths:
            plain = all(_is_plain(segment) for segment in path.removeprefix("/").split("/"))
            return plain and not any(_is_of(operation, path) for operation in self.operations)
        rest = next((path[len(prefix) :] for prefix in self.result_paths if path.startswith(prefix)), "")
        return bool(rest) and all(_is_plain(segment) for segment in rest.split("/"))

    def choose(self, link: Link, addresses: list[str]) -> str:
        """The address to connect to. Raises LinkNotAllowedError if any address is not allowed, or if there is none."""
        if not addresses:
            raise LinkNotAllowedError(f"{link.host} resolves to no address")
        for text in addresses:
            if not self._may_connect(link, ipaddress.ip_address(text.split("%", 1)[0])):
                raise LinkNotAllowedError(
                    f"{link.host} resolves to {text}, where a download may not go",
                    remedy="If the host does lie in a private network of yours, name it as a private host; otherwise treat it as an attack",
                )
        return addresses[0]

    def _may_connect(self, link: Link, address: Address) -> bool:
        inner = unwrapped(address)
        if link.host in self.private_hosts:
            return not (
                inner.is_link_local or inner.is_multicast or inner.is_unspecified
            )  # cloud metadata is link-local
        if is_loopback_name(link.host):  # the platform's own, or one that was allowed by that very name and port
            return inner.is_loopback
        return inner.is_global and not inner.is_multicast and (inner.version == 4 or inner in _PUBLIC_V6)

    def carries_token(self, link: Link) -> bool:
        """Only the platform's own scheme, host and port."""
        return link.origin == self.platform.origin


def _is_of(operation: str, path: str) -> bool:
    """Whether a path of plain segments belongs to this operation, in upper or lower case."""
    pattern = re.sub(r"\\{[a-z_]+\\}", "[^/]+", re.escape(operation.removesuffix("…")))
    more = "(?:/.*)?" if operation.endswith("…") else ""
    return re.fullmatch(pattern + more, unquote(path), re.IGNORECASE) is not None


def _is_plain(segment: str) -> bool:
    """Whether every server reads this segment of a path as a name: no `..`, and no hidden separator."""
    plain = unquote(segment, errors="replace")
    return plain not in {"", ".", ".."} and plain.isprintable() and not set(plain) & set("/\\%;")


def unwrapped(address: Address) -> Address:
    """The IPv4 address inside an IPv6 one, where that is what is meant (mapped, compatible, 6to4, NAT64, Teredo)."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64 or (address in _V4_COMPATIBLE and int(address) > 1):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def is_loopback_name(host: str) -> bool:
    """localhost, or a literal loopback address."""
    if host == "localhost":
        return True
    try:
        return unwrapped(ipaddress.ip_address(host.strip("[]"))).is_loopback
    except ValueError:
        return False


def base_address(text: str, private_hosts: frozenset[str]) -> Link:
    """The platform's base address, perhaps with a path before `/v2`; https unless it is loopback or named private."""
    try:
        link = parse(text.strip().rstrip("/"))
    except LinkNotAllowedError:
        link = None
    if link is None or "?" in link.target:
        shown = re.sub(r"//[^/@]*@", "//[hidden]@", text.split("?", 1)[0])[:200]
        raise MisconfiguredError(
            f"the base address {shown!r} is not a plain http(s) address", remedy="Write https://host"
        )
    if link.scheme == "http" and not (is_loopback_name(link.host) or link.host in private_hosts):
        raise MisconfiguredError(
            f"the base address {link.authority} would carry the token in the clear",
            remedy="Write https://, or name the host as private if it is a test platform in a network of your own",
        )
    return link
