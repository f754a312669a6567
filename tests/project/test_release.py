"""`make release`: what it refuses, and that its wheels do their main job in an empty environment outside the checkout."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from installation.installed import PROJECT, clean_environment
from installation.process import run
from scripts import release

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = "1.2.3"
OUTSIDE = (".venv", ".tools", ".git", ".shelfsync", "dist", "__pycache__", ".*_cache", ".hypothesis")
PARSED = """
import json, sys
from airflow.dag_processing.dagbag import DagBag
from shelfsync.settings_file import PROJECT
bag = DagBag(PROJECT / "dags")
print("found " + json.dumps({"dags": sorted(bag.dags), "errors": bag.import_errors, "folder": str(PROJECT)}))
"""
CALLED = """
import partner_api, sys
from partner_api.client import PartnerClient
assert "shelfsync" not in sys.modules
print(partner_api.__file__)
"""


def committed(folder: Path) -> Path:
    """The folder as a repository with one commit."""
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "all"]):
        who = ["-c", "user.name=test", "-c", "user.email=test@example.com"]
        subprocess.run(["git", *who, *words], cwd=folder, check=True)
    return folder


@pytest.fixture
def small(tmp_path: Path) -> Path:
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3\n\n- One.\n\n## 1.2.2\n\n- Two.\n")
    return committed(tmp_path)


@pytest.mark.parametrize("version", ["", "1", "1.2", "v1.2.3", "01.2.3", "1.2.3-rc1", "1.2.3\n", "../1.2.3"])
def test_a_malformed_version_is_refused_with_the_next_command(small: Path, version: str) -> None:
    with pytest.raises(release.ReleaseError, match=re.escape("Run make release VERSION=1.0.0")):
        release.release(version, small)


def test_a_file_that_is_not_committed_is_named(small: Path) -> None:
    (small / "new.py").write_text("")
    with pytest.raises(release.ReleaseError, match=r"1 files are not committed, first new\.py"):
        release.release(VERSION, small)


@pytest.mark.parametrize(
    ("version", "next_"), [("1.2.3", "Rename `## Unreleased` to"), ("1.2.3rc1", "Write `## 1.2.3rc1` above")]
)
def test_a_trial_leaves_what_is_not_released_where_it_is(version: str, next_: str) -> None:
    with pytest.raises(release.ReleaseError, match=re.escape(next_)):
        release.notes("# Changelog\n\n## Unreleased\n\n- One.\n", version)


@pytest.mark.parametrize("text", ["# Changelog\n\n## Unreleased\n\n- One.\n", "## 1.2.3\n\n## 1.2.2\n\n- Two.\n", ""])
def test_a_version_without_a_section_has_no_release(text: str) -> None:
    with pytest.raises(release.ReleaseError, match=r"CHANGELOG\.md: there is no section"):
        release.notes(text, VERSION)


def test_the_notes_are_the_section_of_the_version_alone(small: Path) -> None:
    assert release.notes((small / "CHANGELOG.md").read_text(), VERSION) == "# shelfsync 1.2.3\n\n- One.\n"


def test_a_release_whose_recorded_database_is_of_another_is_refused_with_the_next_command(small: Path) -> None:
    for name in (release.HEAD, release.RECORDING):
        (small / name).parent.mkdir(parents=True)
        shutil.copy2(PROJECT / name, small / name)
    head = small / release.HEAD
    head.write_text(re.sub(r'^HEAD = ".*"', 'HEAD = "another"', head.read_text("utf-8"), flags=re.MULTILINE))
    with pytest.raises(release.ReleaseError, match=r"is of revision \w+, not of this release. Run make record-release"):
        release.release(VERSION, committed(small))


def test_a_pin_keeps_its_extra_and_its_marker_and_loses_hashes() -> None:
    locked = (
        'a==1 \\\n    --hash=sha256:00\n    # via -r b==2\nc[d]==3 ; sys_platform == "win32" \\\n    --hash=sha256:11\n'
    )
    assert release.pins(locked) == ["a==1", 'c[d]==3 ; sys_platform == "win32"']


def test_every_line_of_every_locked_file_is_pinned_with_a_hash() -> None:
    for file in [*PROJECT.glob("requirements*.txt"), PROJECT / "sandbox/requirements.txt"]:
        text = file.read_text("utf-8")
        entries = re.findall(r"^[A-Za-z0-9].*(?:\n[ ].*)*", text, re.MULTILINE)
        assert len(release.pins(text)) == len(entries) > 0, file.name
        assert all("--hash=sha256:" in entry for entry in entries), file.name


@pytest.fixture(scope="module")
def built() -> Iterator[Path]:
    """The release of this tree, as if it were committed. Not in a folder of pytest, which is searched for the sandbox's canaries."""
    root = Path(tempfile.mkdtemp(prefix="shelfsync-release-")) / "project"
    root.parent.chmod(0o755)
    shutil.copytree(PROJECT, root, ignore=shutil.ignore_patterns(*OUTSIDE))
    changelog = root / "CHANGELOG.md"
    changelog.write_text(changelog.read_text("utf-8") + f"\n## {VERSION}\n\n- One.\n", "utf-8")
    yield release.release(VERSION, committed(root), site=False)
    shutil.rmtree(root.parent)


INSTALL = """
. scripts/uv.sh
python="$1" folder="$2"; shift 2
"$uv" venv --quiet --python "$python" "$folder"
"$uv" pip install --quiet --python "$folder/bin/python" "$@"
"""


@pytest.fixture(scope="module")
def environment(built: Path) -> dict[str, str]:
    return clean_environment() | {
        "SHELFSYNC_HOME": str(built.parents[2] / "home"),
        "AIRFLOW_HOME": str(built.parents[2] / "airflow"),
    }


def empty(built: Path, name: str, *wheels: str) -> Path:
    """The programs of a fresh environment into which the wheels and what they require were installed."""
    folder = built.parents[2] / name
    files = [str(next(built.glob(f"{wheel}-*.whl"))) for wheel in wheels]
    subprocess.run(["sh", "-euc", INSTALL, "sh", sys.executable, folder, *files], cwd=PROJECT, check=True)
    return folder / "bin"


@pytest.mark.slow
def test_the_wheels_do_their_work_in_an_empty_environment(built: Path, environment: dict[str, str]) -> None:
    there = empty(built, "whole", "shelfsync", "partner_sandbox")
    shown = run([str(there / "shelfsync"), "--version"], environment, built.parents[2])
    assert shown.stdout.strip() == f"shelfsync {VERSION}"
    checked = run([str(there / "shelfsync"), "check"], environment, built.parents[2])
    assert checked.returncode == 3, checked.stderr
    assert "SHELFSYNC_ERP__URL" in checked.stderr
    parsed = run([str(there / "python"), "-c", PARSED], environment, built.parents[2], timeout_s=300)
    line = next(line for line in parsed.stdout.splitlines() if line.startswith("found "))
    found = json.loads(line.removeprefix("found "))
    assert found["folder"].startswith(str(built.parents[2] / "whole"))
    assert found["errors"] == {}
    assert len(found["dags"]) >= len(list((PROJECT / "dags").glob("*.py")))
    assert (there / "partner-sandbox").is_file()


@pytest.mark.slow
def test_the_client_and_the_sandbox_install_alone(built: Path, environment: dict[str, str]) -> None:
    client = empty(built, "client", "shelfsync_client")
    called = run([str(client / "python"), "-c", CALLED], environment, built.parents[2])
    assert called.stdout.startswith(str(built.parents[2] / "client")), called.stderr
    sandbox = empty(built, "sandbox", "partner_sandbox")
    assert run([str(sandbox / "partner-sandbox"), "--help"], environment, built.parents[2]).returncode == 0


@pytest.mark.slow
def test_a_second_build_gives_the_same_bytes_and_no_other_release_is_in_it(built: Path) -> None:
    first = {file.name: file.read_bytes() for file in built.glob("*.whl")}
    assert len(first) == 3
    release.release(VERSION, built.parents[1], site=False)
    assert {file.name: file.read_bytes() for file in built.glob("*.whl")} == first
    with zipfile.ZipFile(next(built.glob("shelfsync-*.whl"))) as wheel:
        assert {name for name in wheel.namelist() if name.startswith(("tests", "sandbox", "partner_sandbox"))} == set()
        about = wheel.read(next(name for name in wheel.namelist() if name.endswith("METADATA"))).decode()
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    for extra, names in project["optional-dependencies"].items():
        for name in names:
            assert re.search(rf"^Requires-Dist: {name}==[^;]+; extra == '{extra}'", about, re.MULTILINE), (extra, name)


@pytest.mark.slow
@pytest.mark.proof
def test_the_demo_runs_without_a_checkout(built: Path, environment: dict[str, str]) -> None:
    there = empty(built, "demo", "shelfsync", "partner_sandbox")
    done = run([str(there / "shelfsync"), "demo"], environment, built.parents[2], timeout_s=1500)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
