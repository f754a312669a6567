"""Who may do what with Airflow's FAB auth manager and two chains. The roles are made by the commands of docs/reference/access.md."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from starlette.status import HTTP_200_OK, HTTP_303_SEE_OTHER, HTTP_403_FORBIDDEN

from installation import fab as with_fab
from installation.fab import PASSWORD, VENDOR
from installation.installed import PROJECT
from installation.several import CHAINS
from page_paths import FORMS, PATHS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from installation.fab import Fab

pytestmark = [pytest.mark.slow, pytest.mark.proof]

PAGES = "/shelfsync/pages"
LOOK, DECIDE, START, STOP = "look", "decide", "start", "stop"
ROLES = {"vera": "Viewer", "uma": "User", "otto": "Op", "nora": "north"}
RIGHTS: dict[str, dict[str, set[str]]] = {
    "vera": {chain: {LOOK} for chain in CHAINS},
    "uma": {chain: {LOOK, DECIDE, START} for chain in CHAINS},
    "otto": {chain: {LOOK, DECIDE, START, STOP} for chain in CHAINS},
    "nora": {"north": {LOOK, DECIDE, START}, "south": set()},
}
"""Person -> chain -> what that person may do there."""


@pytest.fixture(scope="module")
def up(reachable_folder: Path) -> Iterator[Fab]:
    """Each person of ROLES can log in. Airflow has made its own roles again since, as after an upgrade."""
    with with_fab.running(reachable_folder / "fab") as fab:
        *roles, person = documented()
        for script in (*roles, "airflow sync-perm"):
            fab.shell(script)
        for name, role in ROLES.items():
            command = person.strip().replace("nora", name).replace("--role north", f"--role {role}")
            fab.shell(f"{command} --password '{PASSWORD}'")
        yield fab


def documented() -> list[str]:
    """The lines of a shell that the page's part about FAB has; the last block makes a person."""
    text = (PROJECT / "docs/reference/access.md").read_text("utf-8")
    part = text.partition("### With the FAB auth manager")[2].partition("\n## ")[0]
    return re.findall(r"^```sh\n(.*?)^```", part, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("person", ROLES)
def test_each_page_and_each_form_asks_for_its_right(up: Fab, person: str) -> None:
    client = up.client(person)
    for chain, rights in RIGHTS[person].items():
        for path in [one for one in PATHS if one != "/{}"]:  # /{} is no page
            answer = client.get(f"{PAGES}/{chain}{path.format(1)}")
            assert (answer.status_code != HTTP_403_FORBIDDEN) == (LOOK in rights), (chain, path, answer.text)
        for path in FORMS:
            right = {"/switches/{}": STOP, "/store/sync": START}.get(path, DECIDE)
            answer = client.post(f"{PAGES}/{chain}{path.format('none' if 'rules' in path else 999)}")
            assert (answer.status_code != HTTP_403_FORBIDDEN) == (right in rights), (chain, path, answer.text)


@pytest.mark.parametrize("person", ROLES)
def test_a_person_finds_the_chains_that_the_role_may_look_at(up: Fab, person: str) -> None:
    client = up.client(person)
    seen = [chain for chain, rights in RIGHTS[person].items() if LOOK in rights]
    assert re.findall(r'href="[^"]*/pages/(\w+)/"', client.get(f"{PAGES}/").text) == seen
    dags = [dag["dag_id"].partition("__")[2] for dag in up.call(person, "GET", "/api/v2/dags?limit=100")["dags"]]
    assert {chain: dags.count(chain) for chain in {*dags}} == dict.fromkeys(seen, with_fab.DAGS)
    plugins = up.call(person, "GET", "/api/v2/plugins")["plugins"]
    assert "shelfsync" in {view["name"] for plugin in plugins for view in plugin["external_views"]}
    menu = up.call(person, "GET", "/ui/auth/menus")["authorized_menu_items"]
    assert ("Required Actions" in menu) == (person != "vera")


def test_a_person_of_one_chain_decides_a_hold_of_that_chain_alone(up: Fab) -> None:
    assert _decline(up, "nora", "south") == HTTP_403_FORBIDDEN
    for person, chain in (("nora", "north"), ("otto", "south")):
        assert _decline(up, person, chain) == HTTP_303_SEE_OTHER
        assert f"declined</strong> by {person}" in up.client(person).get(f"{PAGES}/{chain}/holds/1").text


def _decline(up: Fab, person: str, chain: str) -> int:
    return up.client(person).post(f"{PAGES}/{chain}/holds/1/decline", data={"reason": "a slip"}).status_code


def test_a_person_of_one_chain_starts_runs_of_that_chain_alone(up: Fab) -> None:
    client, runs = up.client("nora"), "/api/v2/dags/catalog_delta_sync__{}/dagRuns"
    for chain, done, seen in (
        ("north", HTTP_303_SEE_OTHER, HTTP_200_OK),
        ("south", HTTP_403_FORBIDDEN, HTTP_403_FORBIDDEN),
    ):
        dag = f"/api/v2/dags/catalog_delta_sync__{chain}"
        assert client.patch(dag, json={"is_paused": False}).status_code == seen
        assert client.post(f"{PAGES}/{chain}/store/sync", data={"vendor": VENDOR}).status_code == done
        assert client.post(f"{dag}/dagRuns", json={"logical_date": None}).status_code == seen
    started = {chain: up.call("otto", "GET", runs.format(chain))["dag_runs"] for chain in CHAINS}
    assert [run["triggering_user_name"] for run in started["north"]] == ["nora", "nora"]
    assert started["south"] == []


def test_who_may_edit_pools_besides_stops_the_chain_of_the_role_alone(up: Fab) -> None:
    assert _pause(up, "nora") == {"north": HTTP_403_FORBIDDEN, "south": HTTP_403_FORBIDDEN}
    up.shell("airflow roles add-perms north --action can_edit --resource Pools")
    up.until(lambda: _pause(up, "nora") == {"north": HTTP_303_SEE_OTHER, "south": HTTP_403_FORBIDDEN}, "nora to stop")
    assert "stocktaking" in up.client("nora").get(f"{PAGES}/north/switches").text
    assert "stocktaking" not in up.client("otto").get(f"{PAGES}/south/switches").text


def _pause(up: Fab, person: str) -> dict[str, int]:
    form = {"scope": "vendor", "vendor": VENDOR, "reason": "stocktaking"}
    client = up.client(person)
    return {chain: client.post(f"{PAGES}/{chain}/switches/pause", data=form).status_code for chain in CHAINS}
