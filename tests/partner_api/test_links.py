"""Where a download may go: a table of hostile addresses, and a canary server that must receive no request for any of them."""

from __future__ import annotations

import io
import ssl

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tls_certificate
from partner_api import Dialect, links
from partner_api.errors import LinkNotAllowedError, UnavailableError

# {c}: the canary's port, {p}: the platform's. The resolver of the test sends every name to loopback, so only the client's own
# check keeps a request from arriving.
HOSTILE = [
    # other hosts
    "http://evil.example:{c}/log.csv",
    "https://evil.example:{c}/log.csv",
    "https://evil.example/log.csv",
    "https://cdn.example.evil.example:{c}/x",
    "https://evilcdn.example:{c}/x",
    "https://cdn.example.:{c}/x",
    "https://cdn.example:{c}/x",
    "https://cdn.example:444/x",
    "http://cdn.example/x",
    "http://cdn.example:443/x",
    "https://www.cdn.example/x",
    "https://CDN.EXAMPLE.evil.example/x",
    # the platform's host, but not its port or scheme
    "http://127.0.0.1:{c}/log.csv",
    "https://127.0.0.1:{p}/log.csv",
    "http://127.0.0.1/log.csv",
    "http://localhost:{c}/log.csv",
    "http://localhost:{p}/log.csv",
    "http://localhost.:{p}/log.csv",
    # loopback and private addresses in every spelling
    "http://127.1:{c}/",
    "http://127.0.1:{c}/",
    "http://2130706433:{c}/",
    "http://0x7f000001:{c}/",
    "http://0x7f.0.0.1:{c}/",
    "http://0177.0.0.1:{c}/",
    "http://017700000001:{c}/",
    "http://127.000.000.001:{p}/",
    "http://0:{c}/",
    "http://0.0.0.0:{c}/",
    "http://[::1]:{c}/",
    "http://[::]:{c}/",
    "http://[0:0:0:0:0:0:0:1]:{c}/",
    "http://[::ffff:127.0.0.1]:{c}/",
    "http://[::ffff:7f00:1]:{c}/",
    "http://[::127.0.0.1]:{c}/",
    "http://[64:ff9b::7f00:1]:{c}/",
    "http://[fe80::1%25lo]:{c}/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://169.254.169.254/latest/meta-data/",
    "https://169.254.169.254/latest/meta-data/",
    "http://[::ffff:169.254.169.254]/",
    "http://2852039166/latest/meta-data/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://127.0.0.1.nip.io:{c}/",
    # user names and other ways to hide the host
    "http://127.0.0.1:{p}@evil.example:{c}/",
    "http://user:pass@127.0.0.1:{p}/",
    "http://user@127.0.0.1:{p}/",
    "http://@127.0.0.1:{p}/",
    "http://:@127.0.0.1:{p}/",
    "https://cdn.example@evil.example:{c}/",
    "https://cdn.example%40evil.example:{c}/",
    "https://cdn.example%2eevil.example/",
    "https://cdn.example\\@evil.example:{c}/",
    "https://cdn.example\\.evil.example/",
    "http:\\\\127.0.0.1:{c}\\",
    "https://evil.example#@cdn.example/",
    "https://evil.example?@cdn.example/",
    "https://evil.example;cdn.example/",
    "https://cdn.example,evil.example/",
    "https://cdn.example evil.example/",
    "https://cdn.example\tevil.example/",
    "https://cdn\x00.example/",
    "https://cdn.example\r\nHost: evil.example/",
    "http://127.0.0.1:{p}/log.csv HTTP/1.1\r\nX: y",
    "http://127.0.0.1:{p}/\r\nAuthorization: x",
    # look-alikes
    "https://cdn\u3002example/x",
    "https://\u0441dn.example/x",
    "https://xn--dn-nmc.example/x",
    "https://cdn.ex\u00e4mple/x",
    "https://\uff43\uff44\uff4e.example/x",
    "https://c\u00addn.example/x",
    "http://\u2460\u2461\u2466.0.0.1:{c}/",
    "http\u017f://127.0.0.1:{p}/",
    "http\u017f://x/",
    "http://\u212a.example/",
    # the platform's own host, but no path that serves results
    "http://127.0.0.1:{p}/",
    "http://127.0.0.1:{p}/log.csv",
    "http://127.0.0.1:{p}/v2/chains/demo-chain/vendors/store-1",
    "http://127.0.0.1:{p}/v2/chains/demo-chain/orders/1",
    "http://127.0.0.1:{p}/v2/chains/demo-chain/catalog/jobs/1",
    "http://127.0.0.1:{p}/v2/chains/other-chain/catalog/downloads/1.csv",
    "http://127.0.0.1:{p}/v2/chains/demo-chain/catalog/downloads",
    "http://127.0.0.1:{p}/v2/chains/demo-chain/catalog/downloads/",
    "http://127.0.0.1:{p}/v2/chains/demo-chain/catalog/downloads/?a=1",
    "http://127.0.0.1:{p}/v2/chains/demo-chain/catalog/downloads/../../orders/1",
    "http://127.0.0.1:{p}/v2/chains/demo-chain/catalog/downloads/%2e%2e/%2E%2e/orders/1",
    "http://127.0.0.1:{p}/v2/chains/demo-chain/catalog/downloads/..%2f..%2forders",
    "http://127.0.0.1:{p}/v2/chains/demo-chain/catalog/downloads/%252e%252e/x",
    "http://127.0.0.1:{p}/v2/chains/demo-chain/catalog/downloads/..;/x",
    "http://127.0.0.1:{p}/v2/chains/demo-chain/catalog/downloads//x",
    "http://127.0.0.1:{p}//v2/chains/demo-chain/catalog/downloads/1.csv",
    "http://127.0.0.1:{p}/V2/chains/demo-chain/catalog/downloads/1.csv",
    # other schemes and forms
    "file:///etc/passwd",
    "file://localhost/etc/passwd",
    "ftp://127.0.0.1:{c}/log.csv",
    "gopher://127.0.0.1:{c}/_GET",
    "data:text/csv,sku,state,errors",
    "javascript:alert(1)",
    "ws://127.0.0.1:{p}/",
    "unix:///var/run/docker.sock",
    "jar:http://127.0.0.1:{c}/!/x",
    "//127.0.0.1:{c}/log.csv",
    "///127.0.0.1:{c}/log.csv",
    "/etc/passwd",
    "log.csv",
    "",
    " ",
    "http://",
    "http:///log.csv",
    "http:127.0.0.1:{c}/",
    "http:/127.0.0.1:{c}/",
    " http://127.0.0.1:{p}/",
    "http://127.0.0.1:{p}/ ",
    "http://127.0.0.1:{p}/\n",
    "http://127.0.0.1:99999/",
    "http://127.0.0.1:-1/",
    "http://127.0.0.1:0/",
    "http://127.0.0.1:+{p}/",
    "http://127.0.0.1:{p}:{c}/",
    "http://127.0.0.1:/",
    "http://[127.0.0.1]:{p}/",
    "http://[::1/",
    "http://a..b/",
    "http://-a.example/",
    "https://cdn.example" + "/a" * 5000,
]


@pytest.fixture
def canary(tools):
    """A server that answers every request with success, so that any request that arrives shows."""
    return tools.server(lambda seen, send: send(tools.http(200, "sku,state,errors\n")))


def _client(tools, platform, **kwargs):
    kwargs.setdefault("download_hosts", ["cdn.example"])
    return tools.client(platform, resolve=lambda host, port: ["127.0.0.1"], **kwargs)


def test_the_table_is_long_enough_and_names_each_address_once():
    assert len(set(HOSTILE)) == len(HOSTILE) >= 60


def test_no_hostile_address_receives_a_request_or_a_token(tools, canary):
    platform = tools.platform(tools.http(200, "sku,state,errors\n"))
    client = _client(tools, platform, dialect=Dialect(result_paths=("/v2/chains/{chain_id}/catalog/downloads/",)))
    passed, message = [], []
    for pattern in HOSTILE:
        address = pattern.replace("{c}", str(canary.port)).replace("{p}", str(platform.port))
        file = io.BytesIO()
        try:
            client.download(address, file)
        except LinkNotAllowedError as error:
            message.append(str(error))
        else:
            passed.append(pattern)
        assert file.getvalue() == b""
    assert passed == []
    assert not any("\n" in line or "pass" in line for line in message)
    assert canary.connections == 0
    assert platform.connections == 0


def test_the_canary_receives_the_request_of_a_client_that_allows_it(tools, canary):
    platform = tools.platform(tools.http(200, "sku,state,errors\n"))
    client = _client(tools, platform, download_hosts=[f"evil.example:{canary.port}"], private_hosts=["evil.example"])
    client.download(f"http://evil.example:{canary.port}/log.csv?a=1#part", io.BytesIO())
    (seen,) = canary.seen
    assert seen.target == "/log.csv?a=1"
    assert seen.headers["host"] == f"evil.example:{canary.port}"
    assert "authorization" not in seen.headers
    assert "x-request-id" not in seen.headers
    assert platform.connections == 0


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.1.2.3"],
        ["169.254.169.254"],
        ["100.64.0.1"],
        ["0.0.0.0"],
        ["224.0.0.1"],
        ["::1"],
        ["fe80::1%eth0"],
        ["fd00::1"],
        ["::ffff:127.0.0.1"],
        ["::ffff:10.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["64:ff9b:1::7f00:1"],
        ["2002:7f00:1::"],
        ["::7f00:1"],
        ["2001:0:0:0:0:0:80ff:fffe"],
        ["93.184.216.34", "127.0.0.1"],
        ["93.184.216.34", "::1"],
        [],
    ],
)
def test_an_allowed_name_that_resolves_to_a_private_address_is_not_allowed(tools, addresses):
    platform = tools.platform(tools.http(200, b"x"))
    client = tools.client(platform, download_hosts=["cdn.example"], resolve=lambda host, port: addresses)
    with pytest.raises(LinkNotAllowedError, match=r"cdn\.example"):
        client.download("https://cdn.example/log.csv", io.BytesIO())
    assert platform.connections == 0


@pytest.mark.parametrize("address", ["169.254.169.254", "224.0.0.1", "0.0.0.0", "::ffff:169.254.169.254", "fe80::1"])
def test_even_a_private_host_may_not_be_the_metadata_address(address):
    policy = links.LinkPolicy(links.parse("https://p.example"), frozenset({"cdn.example"}), frozenset({"cdn.example"}))
    with pytest.raises(LinkNotAllowedError):
        policy.choose(links.parse("https://cdn.example/"), [address])


def test_the_connection_goes_to_the_checked_address_whatever_the_name_resolves_to_later(tools, canary):
    answers = [["127.0.0.1"], ["169.254.169.254"]]
    asked = []

    def rebinding(host, port):
        asked.append((host, port))
        return answers[min(len(asked), 2) - 1]

    platform = tools.platform(tools.http(200, b"x"))
    hosts = {"download_hosts": [f"cdn.example:{canary.port}"], "private_hosts": ["cdn.example"]}
    tools.client(platform, resolve=rebinding, **hosts).download(f"http://cdn.example:{canary.port}/x", io.BytesIO())
    assert asked == [("cdn.example", canary.port)]
    assert len(canary.seen) == 1


def test_a_platform_name_that_resolves_to_another_machine_gets_no_token(tools, canary):
    client = tools.client(f"http://localhost:{canary.port}", resolve=lambda host, port: ["10.0.0.7"])
    with pytest.raises(LinkNotAllowedError, match="where a download may not go"):
        client.download(f"http://localhost:{canary.port}/v2/chains/demo-chain/catalog/downloads/log.csv", io.BytesIO())
    assert canary.connections == 0


def test_a_name_without_an_address_is_unavailable(tools):
    def nowhere(host, port):
        raise OSError("no such host")

    client = tools.client("https://p.example", resolve=nowhere)
    with pytest.raises(UnavailableError, match=r"p\.example has no address now"):
        client.download("https://p.example/v2/chains/demo-chain/catalog/downloads/log.csv", io.BytesIO())


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """TLS for cdn.example: a server context, and a client context that trusts it alone."""
    file = tls_certificate.write(tmp_path_factory.mktemp("tls") / "tools.pem", "cdn.example")
    return tls_certificate.server_context(file), ssl.create_default_context(cafile=str(file))


def test_a_pinned_connection_still_proves_the_hosts_name_by_tls(tools, certificates):
    server_side, client_side = certificates
    storage = tools.server(lambda seen, send: send(tools.http(200, "sku\n")), tls=server_side)
    names = ["cdn.example", "other.example"]
    client = tools.client(
        "https://p.example",
        tls=client_side,
        download_hosts=[f"{name}:{storage.port}" for name in names],
        private_hosts=names,
        resolve=lambda host, port: ["127.0.0.1"],
    )
    assert client.download(f"https://cdn.example:{storage.port}/x", io.BytesIO()).bytes == 4
    with pytest.raises(UnavailableError, match="CERTIFICATE_VERIFY_FAILED"):
        client.download(f"https://other.example:{storage.port}/x", io.BytesIO())
    assert len(storage.seen) == 1


def test_any_path_may_serve_results_until_the_dialect_names_the_paths(tools):
    platform = tools.platform(*[tools.http(200, "sku,state,errors\n")] * 3)
    base = f"http://127.0.0.1:{platform.port}"
    usual = _client(tools, platform)
    usual.download(f"{base}/v2/chains/demo-chain/catalog/logs/2026/1%20a.csv?part=../1", io.BytesIO())
    named = _client(tools, platform, dialect=Dialect(result_paths=("/files/{chain_id}/",)))
    named.download(f"{base}/files/demo-chain/1.csv", io.BytesIO())
    usual.download(f"{base}/files/demo-chain/1.csv", io.BytesIO())
    with pytest.raises(LinkNotAllowedError, match="result_paths"):
        named.download(f"{base}/v2/chains/demo-chain/catalog/logs/1.csv", io.BytesIO())
    assert len(platform.of("GET")) == 3


@pytest.mark.parametrize(
    "path",
    [
        "/v2/oauth/token",
        "/v2/chains/demo-chain/orders/17",
        "/v2/chains/demo-chain/ORDERS/17/customer",
        "/v2/chains/another/orders",
        "/v2/chains/demo-chain/vendors/store-001",
        "/v2/chains/demo-chain/vendors/store-001/orders?page=1",
        "/v2/chains/demo-chain/vendors/store-001/catalog",
        "/v2/chains/demo-chain/vendors/store-001/status",
        "/v2/chains/demo-chain/promotion/jobs/1",
        "/v2/chains/demo-chain/catalog/jobs/1",
        "/v2/chains/demo-chain/x/../orders/17",
        "/v2/chains/demo-chain/%6frders/17",
        "/v2//chains/demo-chain/orders/17",
        "/v2/chains/demo-chain/orders/17/",
    ],
)
def test_where_the_result_paths_are_not_known_no_operation_is_called_by_a_link(tools, path):
    platform = tools.platform(tools.http(200, "sku,state,errors\n"))
    with pytest.raises(LinkNotAllowedError, match="serves no logs or exports"):
        _client(tools, platform).download(f"http://127.0.0.1:{platform.port}{path}", io.BytesIO())
    assert platform.of("GET") == []


@given(st.text(alphabet=st.sampled_from("htps\u017f\u212a\u0130k:/.@[]%01#?x"), max_size=30))
@example("http\u017f://x/")
@example("http://\u212a/")
def test_letters_that_only_look_like_ascii_make_no_link(text):
    try:
        link = links.parse(text)
    except LinkNotAllowedError:
        return
    assert text.split("#")[0].isascii()
    assert link.scheme in {"http", "https"}


@given(st.text(max_size=80))
def test_any_text_is_a_link_within_the_grammar_or_not_allowed(text):
    try:
        link = links.parse(text)
    except LinkNotAllowedError:
        return
    assert text.lower().startswith(f"{link.scheme}://{link.host}")
    assert "@" not in link.authority
    assert link.target.isascii()
    assert link.target.isprintable()


@given(st.ip_addresses(v=4), st.sampled_from(["::ffff:{}", "64:ff9b::{}", "::{}"]))
def test_an_ipv4_address_inside_an_ipv6_one_is_checked_as_ipv4(address, form):
    import ipaddress

    if int(address) > 1:
        assert links.unwrapped(ipaddress.ip_address(form.format(address))) == address
