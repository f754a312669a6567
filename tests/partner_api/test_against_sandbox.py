"""The whole client against the platform one can run."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import time
from decimal import Decimal

import httpx
import pytest
from pydantic import SecretStr

from partner_api import AsyncPartnerClient, ClientCredentials, StreamedBody
from partner_api.clock import SystemClock
from partner_api.errors import (
    AmbiguousError,
    BlockedError,
    CredentialsError,
    DownloadBrokenError,
    DownloadRefusedError,
    InvalidRequestError,
    LinkExpiredError,
    NotFoundError,
    ThrottledError,
    UnavailableError,
    UnexpectedAnswerError,
)
from sandbox_fixture import LiveSandbox

DEMO = ClientCredentials(LiveSandbox.client_id, SecretStr(LiveSandbox.client_secret))


@pytest.fixture(scope="module")
def live():
    with LiveSandbox() as sandbox:
        yield sandbox


@pytest.fixture
def platform(live):
    live.control("POST", "reset")
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


def connect(both, platform, **kwargs):
    return both.client(platform.base_url, credentials=DEMO, clock=kwargs.pop("clock", SystemClock()), **kwargs)


def host_of(url):
    return url.split("//", 1)[1].rstrip("/")


def settled(client, job_id):
    ends_at_s = time.monotonic() + 20
    while not (status := client.job_status(job_id)).is_settled:
        assert time.monotonic() < ends_at_s, status
        time.sleep(0.01)
    return status


@pytest.mark.parametrize("dialect", ["spec", "live", "legacy"])
def test_an_update_goes_its_whole_way_to_the_log(both, dialect):
    with LiveSandbox(dialect=dialect, job_status_for="all") as sandbox:
        sandbox.put_products(
            "store-001", [{"sku": "S1", "barcodes": [], "price": 1.0, "active": True, "sales_buffer": 1}]
        )
        client = connect(both, sandbox, download_hosts=[host_of(sandbox.storage_url)] if sandbox.storage_url else [])
        text = body({"sku": "S1", "price": 2.5}, {"sku": "nobody", "price": 1})
        job = client.update_catalog("store-001", StreamedBody([text[:9], text[9:]], len(text)))
        status = settled(client, job.job_id)
        file = io.BytesIO()
        done = client.download(status.download_url, file)
        rows = {row["sku"]: row for row in csv.DictReader(io.StringIO(file.getvalue().decode("utf-8-sig")))}
        assert done.bytes == len(file.getvalue())
        assert (rows["S1"]["state"], rows["nobody"]["state"]) == ("success", "failed")
        assert Decimal(str(sandbox.products("store-001")["S1"]["price"])) == Decimal("2.5")
        operations = [entry["operation"] for entry in sandbox.journal()["entries"]]
        assert operations.count("token") == 1


def test_a_single_item_of_the_older_form_is_done_at_once(both):
    with LiveSandbox(dialect="legacy") as sandbox:
        sandbox.put_products(
            "store-001", [{"sku": "S1", "barcodes": [], "price": 1.0, "active": True, "sales_buffer": 1}]
        )
        job = connect(both, sandbox).update_catalog("store-001", body({"sku": "S1", "price": 2.5}))
        assert (job.job_id, job.raw) == (None, {"sku": "S1"})


def test_a_presigned_link_is_refused_until_its_host_is_allowed(both):
    with LiveSandbox(dialect="live", job_status_for="all") as sandbox:
        sandbox.put_products(
            "store-001", [{"sku": "S1", "barcodes": [], "price": 1.0, "active": True, "sales_buffer": 1}]
        )
        client = connect(both, sandbox)
        job = client.update_catalog("store-001", body({"sku": "S1", "price": 2.5}))
        link = settled(client, job.job_id).download_url
        with pytest.raises(DownloadRefusedError, match="neither the platform nor an allowed host"):
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
def test_each_fault_of_a_log_is_met(both, platform, fault, error):
    client = connect(both, platform, clock=both.QuickClock())
    job = client.update_catalog("store-001", body({"sku": "S1", "price": 2.5}, {"sku": "S2", "price": 2.5}))
    link = settled(client, job.job_id).download_url
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
def test_each_fault_that_leaves_an_update_open_is_ambiguous(both, platform, fault):
    client = connect(both, platform)
    platform.faults({"at": "put_catalog", "kind": fault, "times": 1})
    with pytest.raises(AmbiguousError):
        client.update_catalog("store-001", body({"sku": "S1", "price": 7}, {"sku": "S2", "price": 7}))
    operations = [entry["operation"] for entry in platform.journal()["entries"]]
    assert operations.count("put_catalog") == 1


@pytest.mark.parametrize("fault", ["first_page_again", "endless_pages"])
def test_a_lying_listing_is_marked_incomplete(both, platform, fault):
    platform.faults({"at": "list_catalog", "kind": fault})
    listing = connect(both, platform).whole_catalog("store-001", page_size=10)
    assert not listing.complete
    assert len(listing.products) <= 25


def test_an_expired_token_is_renewed_and_the_call_repeated(both, platform):
    client = connect(both, platform)
    platform.faults({"at": "list_catalog", "kind": "token_expired", "times": 1})
    assert len(client.list_catalog("store-001").products) == 25


def test_the_listing_is_the_assortment(both, platform):
    client = connect(both, platform)
    listing = client.whole_catalog("store-001", page_size=10)
    assert (listing.complete, listing.pages) == (True, 3)
    assert {entry.sku for entry in listing.products} == set(platform.products("store-001"))
    assert listing.products[0].price == Decimal("1.000")
    assert isinstance(client.categories("store-001"), tuple)


def test_the_connection_test_tells_wrong_settings_apart(both, platform):
    assert connect(both, platform).check("store-001").vendor_seen
    with pytest.raises(NotFoundError, match="store-999"):
        connect(both, platform).check("store-999")
    wrong = ClientCredentials(LiveSandbox.client_id, SecretStr("canary-wrong"))
    with pytest.raises(CredentialsError) as caught:
        both.client(platform.base_url, credentials=wrong).check("store-001")
    assert "canary-wrong" not in str(caught.value)


def test_a_bad_item_refuses_the_whole_body(both, platform):
    with pytest.raises(InvalidRequestError, match="halve"):
        connect(both, platform).update_catalog(
            "store-001", body({"sku": "S1", "quantity": 3.4}, {"sku": "S2", "price": 9})
        )
    assert platform.products("store-001")["S2"]["price"] in {1.0, "1.0", "1.000"}


def test_a_passing_failure_of_a_read_is_bridged_and_of_a_write_is_ambiguous(both, platform):
    client = connect(both, platform, clock=both.QuickClock())
    platform.faults({"at": "list_catalog", "kind": "status_500", "times": 2})
    assert len(client.list_catalog("store-001").products) == 25
    platform.faults({"at": "put_catalog", "kind": "status_500", "times": 1})
    with pytest.raises(AmbiguousError):
        client.update_catalog("store-001", body({"sku": "S1", "price": 3}))


@pytest.mark.parametrize("dialect", ["spec", "live", "legacy"])
def test_beyond_the_rate_limit_the_client_is_told_to_wait(both, dialect):
    with LiveSandbox(dialect=dialect, requests_per_minute=4) as sandbox:
        client = both.client(sandbox.base_url, credentials=DEMO, attempts_max=1)
        for _ in range(3):
            client.check()
        with pytest.raises(ThrottledError):
            client.check()


def test_a_platform_that_is_gone_is_unavailable(both):
    with LiveSandbox() as sandbox:
        address = sandbox.base_url
    with pytest.raises(UnavailableError, match="nothing was changed"):
        both.client(address, credentials=DEMO).check()


def test_the_async_client_works_inside_one_process_on_a_virtual_clock():
    from partner_sandbox.app import create_app
    from partner_sandbox.settings import SandboxSettings

    app = create_app(SandboxSettings(clock="virtual", seed=7))
    transport = httpx.ASGITransport(app)
    items = {"products": [{"sku": "S1", "barcodes": [], "price": 1.0, "active": True, "sales_buffer": 1}]}

    async def run():
        async with httpx.AsyncClient(transport=transport, base_url="https://platform.example") as control:
            await control.put("/_sandbox/chains/demo-chain/vendors/store-001/products", json=items)
        client = AsyncPartnerClient("https://platform.example", "demo-chain", DEMO, transport=transport)
        job = await client.update_catalog("store-001", body({"sku": "S1", "price": 2}, {"sku": "X", "price": 2}))
        assert not (await client.job_status(job.job_id)).is_settled
        await app.state.sandbox.work.advance(60)
        status = await client.job_status(job.job_id)
        file = io.BytesIO()
        await client.download(status.download_url, file)
        return status, file.getvalue()

    status, log = asyncio.run(run())
    assert status.status == "COMPLETED"
    assert b"S1" in log
