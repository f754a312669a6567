"""What `make up` prints is what a newcomer needs, and each command in it works as it is printed."""

from __future__ import annotations

import json
import shlex
import stat
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from sandbox_fixture import LiveSandbox
from shelfsync.erp import sample
from shelfsync.local import guide, sample_chain, up
from shelfsync.local.guide import Running
from shelfsync.local.state_folder import Place


@pytest.fixture(scope="module")
def erp_engine(postgres):
    engine = sa.create_engine(postgres.create_database("shelfsync_guide").replace("postgresql:", "postgresql+psycopg:"))
    sample.create(engine, vendors=1, skus_per_vendor=200)
    yield engine
    engine.dispose()
    postgres.drop_database("shelfsync_guide")


@pytest.fixture
def place(tmp_path, erp_engine) -> Place:
    """The folders of a stack that has run once."""
    made = Place(tmp_path / "home")
    made.make()
    url = erp_engine.url.render_as_string(hide_password=False)
    (made.home / sample_chain.CONFIG).write_text(f"[erp]\nurl = {json.dumps(url)}\n", "utf-8")
    return made


@pytest.fixture
def running(erp_engine) -> Running:
    return Running(
        "http://127.0.0.1:1",
        "http://127.0.0.1:2",
        "http://127.0.0.1:3",
        sample.plentiful(erp_engine, "store-001", 1)[0],
    )


def tries(place, running) -> list[str]:
    return [how for _, how in guide.tries(place, running)]


def test_a_newcomer_reads_every_address_and_the_password_and_three_things_to_try(place, running) -> None:
    text = "\n".join(guide.lines(place, running))
    password = json.loads((place.airflow / "simple_auth_manager_passwords.json.generated").read_text())["admin"]
    assert f"http://127.0.0.1:1   user admin   password {password}" in text
    for needed in (
        "http://127.0.0.1:1/shelfsync/pages/",
        "http://127.0.0.1:2",
        "http://127.0.0.1:3/portal",
        "postgresql://",
    ):
        assert needed in text
    assert [line[:3] for line in text.splitlines()[-6::2]] == ["1. ", "2. ", "3. "]


def test_without_a_checkout_the_printed_command_is_that_of_the_environment(place, running) -> None:
    from_wheel = replace(place, project=place.home)
    assert f" {Path(sys.executable).with_name('shelfsync')} explain " in "\n".join(tries(from_wheel, running))
    assert ".venv/bin/shelfsync explain" in "\n".join(tries(place, running))


@pytest.mark.parametrize(
    ("sections", "named"),
    [
        ("[chains.demo]\nwas_alone = true\n[chains.alpha]\n", "demo"),
        ("[chains.north]\n[chains.south.erp]\n", "north"),
    ],
)
def test_with_chains_each_printed_command_names_one(place, running, monkeypatch, sections: str, named: str) -> None:
    monkeypatch.setenv("SHELFSYNC_CHAINS__OF_THE_SHELL__WAS_ALONE", "true")
    with (place.home / sample_chain.CONFIG).open("a") as file:
        file.write(sections)
    text = "\n".join(guide.lines(place, running))
    for command in ("status", "sync --vendor store-001", f"explain store-001 {running.sku}"):
        assert f"shelfsync --chain {named} {command}" in text
    assert text.count("bin/shelfsync ") == text.count(f"bin/shelfsync --chain {named} ") == 3


def test_the_chains_of_a_real_platform_are_those_of_its_settings(place, monkeypatch) -> None:
    monkeypatch.setenv("SHELFSYNC_CHAINS__NORTH__ERP__SOURCE", "files")
    what = Running("http://127.0.0.1:1", "http://127.0.0.1:2")
    assert [how.partition("shelfsync ")[2] for _, how in guide.tries(place, what)] == [
        "--chain north check",
        "--chain north plan",
        "--chain north status",
    ]


def test_no_printed_command_has_the_password_of_the_erp(place, running) -> None:
    (place.home / sample_chain.CONFIG).write_text('[erp]\nurl = "postgresql+psycopg://u:can%3Aary@h:5/erp"\n', "utf-8")
    assert "ary@" not in "\n".join(guide.lines(place, running))
    assert guide.psql(place)[-1] == "postgresql://u@h:5/erp"
    file = place.home / "erp.pgpass"
    assert file.read_text("utf-8") == "h:5:erp:u:can\\:ary\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_without_the_sample_there_is_neither_its_erp_nor_the_sandbox(place) -> None:
    text = "\n".join(guide.lines(place, Running("http://127.0.0.1:1", "http://127.0.0.1:2")))
    assert "sandbox" not in text
    assert "postgresql://" not in text
    assert "1. " in text
    assert "shelfsync check" in text


def test_what_is_kept_in_a_file_holds_no_password(place, running) -> None:
    kept = json.dumps(asdict(running))
    assert "password" not in kept
    assert "postgresql" not in kept
    assert Running(**json.loads(kept)) == running


def test_the_price_changes_by_the_line_that_is_printed(place, running, erp_engine) -> None:
    price = sa.text(sample.SELECT_FILE.read_text("utf-8").replace(":", r"\:"))

    def shown():
        with erp_engine.connect() as connection:
            return {row.sku: row.price for row in connection.execute(price)}

    before = shown()
    done = subprocess.run(tries(place, running)[0], shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {sku for sku, value in shown().items() if value != before[sku]} == {running.sku}


def test_the_order_is_placed_by_the_line_that_is_printed(place, running, erp_engine) -> None:
    with LiveSandbox() as platform:
        platform.put_products("store-001", sample.assortment(erp_engine)["store-001"])
        here = Running(running.airflow, running.receiver, platform.base_url, running.sku)
        done = subprocess.run(shlex.split(tries(place, here)[1]), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert [item["sku"] for item in json.loads(done.stdout)["items"]] == [running.sku]


def test_the_log_of_make_up_is_for_its_owner_alone(place) -> None:
    with up.open_log(place.logs / "up.log") as log:
        log.write(b"x")
    assert stat.S_IMODE((place.logs / "up.log").stat().st_mode) == 0o600


def test_a_product_to_try_things_with_can_be_ordered_without_emptying_its_shelf(erp_engine) -> None:
    found = sample.plentiful(erp_engine, "store-001", 5)
    assert len(found) == 5
    with erp_engine.connect() as connection:
        rows = {row.sku: row for row in connection.exec_driver_sql(sample.SELECT_FILE.read_text("utf-8"))}
    for sku in found:
        assert rows[sku].active
        assert rows[sku].quantity >= 40
