"""The whole client against the sandbox."""

from __future__ import annotations

import csv
import io
import json
import time
from decimal import Decimal

import pytest
from pydantic import SecretStr

from partner_api import ClientCredentials, StreamedBody
from partner_api.errors import (
    AmbiguousError,
    BlockedError,
    CredentialsError,
    DownloadBrokenError,
    InvalidRequestError,
    LinkExpiredError,
    LinkNotAllowedError,
    NotFoundError,
    ThrottledError,
    UnavailableError,
    UnexpectedAnswerError,
)
from partner_api.session import SystemClock
from sandbox_fixture import LiveSandbox

DEMO = ClientCredentials(LiveSandbox.client_id, SecretStr(LiveSandbox.client_secret))


@pytest.fixture(scope="module")
def live():
    with LiveSandbox() as sandbox:
        yield sandbox


@pytest.fixture
def platform(live):
    live.reset()
    live.put_products(
        "store-001",
        [
            {"sku": f"S{number}", "barcodes": [], "price": 1.0, "active": True, "sales_buffer": 1}
            for number in range(25)
        ],
    )
    return live


def body(*items):
    return json.dumps({"products": list(items)}).encode()


def connect(tools, platform, **kwargs):
    return tools.client(platform.base_url, credentials=DEMO, clock=kwargs.pop("clock", SystemClock()), **kwargs)


def host_of(url):
    return url.split("//", 1)[1].rstrip("/")


def finished_job(client, job_id):
    ends_at_s = time.monotonic() + 20
    while not (status := client.job_status(job_id)).is_finished:
        assert time.monotonic() < ends_at_s, status
        time.sleep(0.01)
    return status


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["spec", "live", "legacy"])
def test_an_update_goes_its_whole_way_to_the_log(tools, dialect):
    with LiveSandbox(dialect=dialect, job_status_for="all") as sandbox:
        sandbox.put_products(
            "store-001", [{"sku": "S1", "barcodes": [], "price": 1.0, "active": True, "sales_buffer": 1}]
        )
        client = connect(tools, sandbox, download_hosts=[host_of(sandbox.storage_url)] if sandbox.storage_url else [])
        text = body({"sku": "S1", "price": 2.5}, {"sku": "unknown", "price": 1})
        job = client.update_catalog("store-001", StreamedBody([text[:9], text[9:]], len(text)))
        status = finished_job(client, job.job_id)
        file = io.BytesIO()
        done = client.download(status.download_url, file)
        rows = {row["sku"]: row for row in csv.DictReader(io.StringIO(file.getvalue().decode("utf-8-sig")))}
        assert done.bytes == len(file.getvalue())
        assert (rows["S1"]["state"], rows["unknown"]["state"]) == ("success", "failed")
        assert Decimal(str(sandbox.products("store-001")["S1"]["price"])) == Decimal("2.5")
        operations = [entry["operation"] for entry in sandbox.journal()["entries"]]
        assert operations.count("token") == 1


def test_a_single_item_of_the_older_form_is_done_at_once(tools):
    with LiveSandbox(dialect="legacy") as sandbox:
        sandbox.put_products(
            "store-001", [{"sku": "S1", "barcodes": [], "price": 1.0, "active": True, "sales_buffer": 1}]
        )
        job = connect(tools, sandbox).update_catalog("store-001", body({"sku": "S1", "price": 2.5}))
        assert (job.job_id, job.raw) == (None, {"sku": "S1"})


def test_the_client_follows_a_presigned_link_only_to_an_allowed_host(tools):
    with LiveSandbox(dialect="live", job_status_for="all") as sandbox:
        sandbox.put_products(
            "store-001", [{"sku": "S1", "barcodes": [], "price": 1.0, "active": True, "sales_buffer": 1}]
        )
        client = connect(tools, sandbox)
        job = client.update_catalog("store-001", body({"sku": "S1", "price": 2.5}))
        link = finished_job(client, job.job_id).download_url
        with pytest.raises(LinkNotAllowedError, match="neither the platform nor an allowed host"):
            client.download(link, io.BytesIO())


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"kind": "expired"}, LinkExpiredError),
        ({"kind": "empty"}, DownloadBrokenError),
        ({"kind": "html_page"}, UnexpectedAnswerError),
        ({"kind": "half_body"}, (DownloadBrokenError, UnavailableError)),
        ({"kind": "status_503"}, UnavailableError),
        ({"kind": "block_page"}, BlockedError),
        ({"kind": "gzip"}, None),
        ({"kind": "byte_order_mark"}, None),
        ({"kind": "slow_body", "seconds": 0.1}, None),
    ],
)
def test_each_fault_of_a_log_raises_its_error(tools, platform, fault, error):
    client = connect(tools, platform, clock=tools.QuickClock())
    job = client.update_catalog("store-001", body({"sku": "S1", "price": 2.5}, {"sku": "S2", "price": 2.5}))
    link = finished_job(client, job.job_id).download_url
    plain, faulty = io.BytesIO(), io.BytesIO()
    client.download(link, plain)
    platform.faults({"at": "log", "times": 9, **fault})
    if error:
        with pytest.raises(error):
            client.download(link, faulty)
        platform.faults()
        return
    client.download(link, faulty)
    platform.faults()
    assert faulty.getvalue().removeprefix(b"\xef\xbb\xbf") == plain.getvalue()


@pytest.mark.parametrize("fault", ["no_job_id", "drop_answer", "half_body", "status_502"])
def test_each_fault_that_leaves_an_update_open_is_ambiguous(tools, platform, fault):
    client = connect(tools, platform)
    platform.faults({"at": "put_catalog", "kind": fault, "times": 1})
    with pytest.raises(AmbiguousError):
        client.update_catalog("store-001", body({"sku": "S1", "price": 7}, {"sku": "S2", "price": 7}))
    operations = [entry["operation"] for entry in platform.journal()["entries"]]
    assert operations.count("put_catalog") == 1


@pytest.mark.parametrize("fault", ["first_page_again", "endless_pages"])
def test_a_contradictory_listing_is_incomplete(tools, platform, fault):
    platform.faults({"at": "list_catalog", "kind": fault})
    listing = connect(tools, platform).whole_catalog("store-001", page_size=10)
    assert not listing.complete
    assert len(listing.products) <= 25


def test_an_expired_token_is_renewed_and_the_call_repeated(tools, platform):
    client = connect(tools, platform)
    platform.faults({"at": "list_catalog", "kind": "token_expired", "times": 1})
    assert len(client.list_catalog("store-001").products) == 25


def test_the_listing_is_the_assortment(tools, platform):
    client = connect(tools, platform)
    listing = client.whole_catalog("store-001", page_size=10)
    assert (listing.complete, listing.pages) == (True, 3)
    assert {entry.sku for entry in listing.products} == set(platform.products("store-001"))
    assert listing.products[0].price == Decimal("1.000")
    assert isinstance(client.categories("store-001"), tuple)


def test_the_connection_test_distinguishes_wrong_settings(tools, platform):
    assert connect(tools, platform).check("store-001").vendor_seen
    with pytest.raises(NotFoundError, match="store-999"):
        connect(tools, platform).check("store-999")
    wrong = ClientCredentials(LiveSandbox.client_id, SecretStr("canary-wrong"))
    with pytest.raises(CredentialsError) as caught:
        tools.client(platform.base_url, credentials=wrong).check("store-001")
    assert "canary-wrong" not in str(caught.value)


def test_the_platform_rejects_the_whole_body_for_one_bad_item(tools, platform):
    with pytest.raises(InvalidRequestError, match="halve"):
        connect(tools, platform).update_catalog(
            "store-001", body({"sku": "S1", "quantity": 3.4}, {"sku": "S2", "price": 9})
        )
    assert platform.products("store-001")["S2"]["price"] in {1.0, "1.0", "1.000"}


def test_a_transient_failure_of_a_read_is_retried_and_of_a_write_is_ambiguous(tools, platform):
    client = connect(tools, platform, clock=tools.QuickClock())
    platform.faults({"at": "list_catalog", "kind": "status_500", "times": 2})
    assert len(client.list_catalog("store-001").products) == 25
    platform.faults({"at": "put_catalog", "kind": "status_500", "times": 1})
    with pytest.raises(AmbiguousError):
        client.update_catalog("store-001", body({"sku": "S1", "price": 3}))


@pytest.mark.parametrize("dialect", ["spec", "live", "legacy"])
def test_beyond_the_rate_limit_the_platform_asks_the_client_to_wait(tools, dialect):
    with LiveSandbox(dialect=dialect, requests_per_minute=4) as sandbox:
        client = tools.client(sandbox.base_url, credentials=DEMO, attempts_max=1)
        for _ in range(3):
            client.check()
        with pytest.raises(ThrottledError):
            client.check()


def test_a_stopped_platform_is_unavailable(tools):
    with LiveSandbox() as sandbox:
        address = sandbox.base_url
    with pytest.raises(UnavailableError, match="nothing was changed"):
        tools.client(address, credentials=DEMO).check()
