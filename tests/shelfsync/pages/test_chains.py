"""The pages of several chains: one page that says how each is, and those of each below its name."""

from __future__ import annotations

import re

import pytest
from fastapi import HTTPException, Request
from fastapi.testclient import TestClient

from shelfsync import display
from shelfsync.errors import ConfigurationError
from shelfsync.pages.app import create_app
from shelfsync.pages.chains import ChainPages, create_chains_app
from shelfsync.pages.rights import Viewer


@pytest.fixture(autouse=True)
def sections(synced, monkeypatch, tmp_path):
    """The settings file of an installation with these chains."""
    file = tmp_path / "shelfsync.toml"
    file.write_text("[chains.north]\n[chains.south]\n", "utf-8")
    file.chmod(0o600)
    monkeypatch.setenv("SHELFSYNC_CONFIG", str(file))
    return file


ROOT = "/shelfsync/pages"
"""Where Airflow mounts the pages: a server gives the whole path, and below which part of it the application is."""


def _pages(world, seen, zone="UTC"):
    def guard(request: Request) -> None:
        request.state.viewer = Viewer("ada", may_decide=True, may_stop=True)

    def see(request: Request) -> None:
        if not seen:
            raise HTTPException(403, "you may see no chain")
        request.state.chains = seen

    def away():
        raise ConfigurationError("SHELFSYNC_DATABASE_URL", "no connection", "Start the server.")

    north = create_app(lambda: world.app.context, guard, shown_in=display.Display.of(zone, "NOK"))
    chains = {"north": ChainPages(north, lambda: world.app.context), "south": ChainPages(create_app(away, guard), away)}
    client = TestClient(create_chains_app(chains, see), root_path=ROOT)
    return lambda path: client.get(ROOT + path)


def _synced(world):
    world.platform.put_products("store-001", [{"sku": "a", "barcodes": [], "title": "A", "price": 9.0, "active": True}])
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")


@pytest.fixture
def synced(world_after):
    return world_after(_synced)


@pytest.mark.slow
def test_one_page_says_how_each_chain_is_and_leads_to_its_pages(synced):
    page = _pages(synced, ["north", "south"])("/")
    assert page.status_code == 200
    assert "As of <time" in page.text
    assert dict(re.findall(r"<dt><a href=\"([^\"]*)\">.*?</dt>\s*<dd>(.*?)</dd>", page.text)) == {
        "/shelfsync/pages/north/": "1 of 1 stores show what the ERP says, read just now.",
        "/shelfsync/pages/south/": "It cannot be read: SHELFSYNC_DATABASE_URL: no connection. Start the server.",
    }


def test_a_chain_whose_section_was_removed_is_listed_no_more(synced, sections):
    browse = _pages(synced, ["north", "south"])
    sections.write_text("[chains.north]\n", "utf-8")
    assert "south" not in browse("/").text
    sections.write_text("[chains", "utf-8")
    assert "south" in browse("/").text, "while nobody can read the file, no chain vanishes"


def test_a_viewer_sees_the_chains_that_are_his_alone(synced):
    assert "south" not in _pages(synced, ["north"])("/").text
    assert _pages(synced, [])("/").status_code == 403


def test_the_pages_of_a_chain_are_below_its_name_in_its_zone_and_with_links_of_their_own(synced):
    browse = _pages(synced, ["north", "south"], "Asia/Tokyo")
    page = browse("/north/explain?vendor=store-001&sku=a").text
    assert re.search("As of <time [^>]+>[^<]* JST</time>", page)
    assert "NOK" in page
    links = re.findall(r'(?:href|action)="(/[^"]*)"', page)
    assert links
    assert all(link.startswith("/shelfsync/pages/north/") for link in links)
    assert browse("/north/pages.css").status_code == 200
    assert display.current() == display.Display.of("UTC", None)


def test_a_chain_whose_settings_are_wrong_stops_no_other(synced):
    browse = _pages(synced, ["north", "south"])
    assert browse("/south/").status_code == 503
    assert browse("/north/").status_code == 200


def test_a_tab_in_airflow_leads_to_the_pages_of_its_chain(synced):
    """The pages of a chain go on from there."""
    browse = _pages(synced, ["north", "south"])
    (led, runs) = browse("/from-airflow?dag_id=catalog_delta_sync__north").history
    assert led.headers["location"] == f"{ROOT}/north/from-airflow?dag_id=catalog_delta_sync__north"
    assert runs.headers["location"] == f"{ROOT}/north/runs"
    (led,) = browse("/from-airflow?dag_id=another").history
    assert led.headers["location"] == f"{ROOT}/"
