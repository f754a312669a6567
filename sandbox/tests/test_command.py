"""`partner-sandbox` as a program: its arguments, its start, its state folder, its end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from partner_sandbox import demo
from partner_sandbox.cli import PORT, _parser, main
from sandbox_fixture import LiveSandbox

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(__file__).parents[1]
CATALOG = "/v2/chains/demo-chain/vendors/store-001/catalog"
FORM = {"grant_type": "client_credentials", "client_id": "demo-client", "client_secret": "demo-secret"}


@contextmanager
def running(*arguments: str) -> Iterator[tuple[httpx.Client, subprocess.Popen[str]]]:
    port = () if "--port" in arguments else ("--port", "0")
    command = [sys.executable, "-m", "partner_sandbox.cli", *port, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            address = re.search(r"http://\S+", process.stdout.readline())
            assert address is not None
            with httpx.Client(base_url=address.group(), verify=False, trust_env=False, timeout=120) as client:
                yield client, process
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0


def signed_in(client: httpx.Client) -> None:
    token = client.post("/v2/oauth/token", data=FORM).json()["access_token"]
    client.headers["Authorization"] = f"Bearer {token}"


@pytest.mark.slow
def test_the_program_prints_its_address_and_ends_on_a_signal():
    with running("--dialect", "live", "--clock", "virtual", "--job-seconds", "7", "--set", "propagation_s=5") as (
        client,
        _,
    ):
        assert client.get("/_sandbox/state").json()["clock"] == "virtual"
        settings = client.get("/_sandbox/settings").json()
    assert (settings["dialect"], settings["job_seconds"], settings["propagation_s"]) == ("live", 7, 5)
    assert (settings["link"], settings["requests_per_minute"]) == ("presigned", 60)


@pytest.mark.slow
def test_the_first_lines_name_where_to_go_and_who_to_be():
    with running("--demo") as (client, process):
        lines = [process.stdout.readline().rstrip() for _ in range(11)]
        sold = client.get("/_sandbox/chains/demo-chain/vendors/store-001/products").json()["products"]
    base_url = str(client.base_url).rstrip("/")
    assert lines == "\n".join(demo.first_lines(base_url, demo=True)).splitlines()[: len(lines)]
    assert len(sold) == 20


@pytest.mark.slow
def test_quiet_prints_the_address_and_no_credentials():
    with running("--demo", "--quiet") as (client, process):
        assert client.get("/_sandbox/state").status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == ""


def test_without_a_port_it_takes_the_default_one():
    assert vars(_parser().parse_args([]))["port"] == PORT


@pytest.mark.slow
def test_the_environment_gives_the_settings_that_no_argument_gives(monkeypatch):
    monkeypatch.setenv("PARTNER_SANDBOX_DIALECT", "legacy")
    monkeypatch.setenv("PARTNER_SANDBOX_BEHAVIOUR", '{"job_seconds": 3}')
    with running() as (client, _):
        settings = client.get("/_sandbox/settings").json()
    assert (settings["dialect"], settings["job_seconds"]) == ("legacy", 3)


@pytest.mark.slow
def test_it_starts_with_two_seconds_of_cpu_after_its_imports():
    begin = time.process_time()
    with LiveSandbox():
        assert time.process_time() - begin < 2


@pytest.mark.slow
def test_a_restart_keeps_the_stored_state(tmp_path):
    folder = str(tmp_path / "state")
    with running("--data", folder, "--job-seconds", "1") as (client, _):
        products = {"products": [{"sku": "A", "price": 1}, {"sku": "B", "price": 1}]}
        client.put("/_sandbox/chains/demo-chain/vendors/store-001/products", json=products)
        signed_in(client)
        job_id = client.put(CATALOG, json={"products": [{"sku": "A", "price": 2}]}).json()["job_id"]
    with running("--data", folder) as (again, _):
        again.headers["Authorization"] = client.headers["Authorization"]
        end = time.monotonic() + 20
        while again.get(f"/v2/chains/demo-chain/catalog/jobs/{job_id}").json()["job_status"] != "COMPLETED":
            assert time.monotonic() < end
            time.sleep(0.05)
        held = again.get("/_sandbox/chains/demo-chain/vendors/store-001/products").json()["products"]
        assert [product["price"] for product in held] == [2, 1]
        assert again.get("/_sandbox/journal").json()["requests"] >= 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "nothing=1"], "nothing: is not a known field; known are "),
        (["--set", "propagation_s"], "--set propagation_s: write NAME=VALUE"),
        (["--set", "link=pigeon"], "link: Input should be 'bearer' or 'presigned'"),
    ],
)
def test_an_invalid_argument_is_named(capsys, arguments, message):
    assert main(["--port", "0", *arguments]) == 2
    assert capsys.readouterr().err.strip().startswith(f"partner-sandbox: {message}")


def test_a_port_in_use_is_named(capsys):
    with LiveSandbox() as live:
        port = live.base_url.rpartition(":")[2]
        assert main(["--port", port]) == 1
    assert f"cannot listen on 127.0.0.1:{port}" in capsys.readouterr().err


@pytest.mark.slow
def test_a_folder_that_another_process_has_open_is_named_and_its_state_stays(tmp_path, capsys):
    with running("--data", str(tmp_path)) as (client, _):
        assert main(["--port", "0", "--data", str(tmp_path)]) == 1
        assert capsys.readouterr().err == (
            f"partner-sandbox: cannot open {tmp_path}: another partner-sandbox has it open; stop that one"
            " or name another folder by --data\n"
        )
        signed_in(client)
    with running("--data", str(tmp_path)) as (again, _):
        assert again.get("/_sandbox/journal").json()["requests"] == 1


def test_a_folder_that_cannot_be_opened_is_named(tmp_path, capsys):
    (tmp_path / "partner-sandbox.sqlite").mkdir()
    assert main(["--port", "0", "--data", str(tmp_path)]) == 1
    assert f"cannot open {tmp_path}: unable to open database file" in capsys.readouterr().err


@pytest.mark.slow
def test_ten_thousand_skus_cost_a_second_of_cpu_to_accept_and_two_to_log():
    """By the defaults of the program; client and sandbox together."""
    body = {"products": [{"sku": f"S{n}", "price": n + 0.5, "quantity": 3, "active": True} for n in range(10_000)]}
    with LiveSandbox(job_seconds=0.5) as live, live.partner() as partner:
        live.put_products("store-001", [{"sku": f"S{n}", "price": 1} for n in range(10_000)])
        request = partner.build_request("PUT", CATALOG, json=body)
        begin = time.process_time()
        job_id = partner.send(request).json()["job_id"]
        accepted_s = time.process_time() - begin
        while "download_url" not in (status := partner.get(f"/v2/chains/demo-chain/catalog/jobs/{job_id}").json()):
            time.sleep(0.02)
        assert len(partner.get(status["download_url"]).text.splitlines()) == 10_001
        assert accepted_s < 1.0
        assert time.process_time() - begin < 2.0


@pytest.mark.proof
@pytest.mark.slow
@pytest.mark.scale
def test_a_hundred_megabytes_are_accepted_within_a_gibibyte():
    count = 1_100_000
    products = ",".join(f'{{"sku":"SKU-{n:08d}","price":1}}' for n in range(0, count, 11))
    items = ",".join(
        f'{{"sku":"SKU-{n:08d}","price":{n / 1000 + 1:.3f},"quantity":{n % 99},"active":true,"maximum_sales_quantity":9}}'
        for n in range(count)
    )
    body = f'{{"products":[{items}]}}'.encode()
    assert 100_000_000 < len(body) <= 100 * 1024 * 1024
    with running() as (client, process):
        path = "/_sandbox/chains/demo-chain/vendors/store-001/products"
        client.put(path, content=f'{{"products":[{products}]}}'.encode())
        signed_in(client)
        answer = client.put(CATALOG, content=body)
        assert answer.status_code == 202
        while client.get("/_sandbox/state").json()["jobs"] != {"COMPLETED": 1}:
            time.sleep(0.2)
        status = client.get(f"/v2/chains/demo-chain/catalog/jobs/{answer.json()['job_id']}").json()
        log = client.get(status["download_url"]).text
        peak_kib = int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text()).group(1))
    assert log.count('"success"') == count // 11
    assert log.count('"failed"') == count - count // 11
    assert peak_kib < 1024 * 1024


@pytest.mark.parametrize("port", ["99999", "-1", "abc", "80.0", "٨٠"])
def test_an_impossible_port_is_named_without_a_traceback(capsys, port):
    for flag in ("--port", "--storage-port"):
        with pytest.raises(SystemExit) as ended:
            _parser().parse_args([f"{flag}={port}"])
        assert ended.value.code == 2
        assert "is no port; give a whole number from 0 to 65535" in capsys.readouterr().err
