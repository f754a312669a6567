"""shelfsync reads no configuration that another user can change, and no other user can read its files."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from shelfsync.erp.mapping_hook import MappingHook
from shelfsync.erp.open import open_source
from shelfsync.errors import ConfigurationError
from shelfsync.file_access import reject_shared
from shelfsync.orders.hand_over_channel import Document
from shelfsync.orders.steps.hand_over_files import Files
from shelfsync.settings import ErpSettings, read_settings

ROOT = Path(__file__).parents[2]
OTHER_USER = 4711
HOOK = "def shape(frame):\n    return frame\n"
ENTRY_POINTS = (
    "from shelfsync.cli.app import main",
    "from shelfsync.receiver.__main__ import main",
    "from shelfsync.local.up import main",
    "from shelfsync.local.up import main_down as main",
    "from shelfsync.local.demo import main",
    "from shelfsync.local.init import main",
    "from shelfsync.local.up import main",
    "from shelfsync.local.store_hub import main",
    "from shelfsync.local.customers import main",
    "from partner_sandbox.cli import main",
    "import shelfsync_airflow; main = lambda: None",
)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A separate current folder, without any variable of shelfsync."""
    for name in [name for name in os.environ if name.startswith("SHELFSYNC_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(file: Path, text: str = "[platform]\nchain = 'from-the-file'\n") -> Path:
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_text(text, "utf-8")
    file.chmod(0o640)
    return file


def share(file: Path) -> None:
    """Gives the file to a group that is not the user's own."""
    if os.geteuid() != 0:
        pytest.skip("only root may give a file to any group")
    os.chown(file, -1, OTHER_USER)


def test_a_file_of_the_current_folder_is_not_read_and_that_is_reported(elsewhere, caplog):
    write(elsewhere / "shelfsync.toml")
    assert read_settings().platform.chain is None
    assert "name it by SHELFSYNC_CONFIG" in caplog.text


def test_a_file_of_the_state_folder_is_read(elsewhere, monkeypatch):
    write(elsewhere / ".shelfsync" / "shelfsync.toml")
    assert read_settings().platform.chain is None, "the state folder does not depend on the current one"
    monkeypatch.setenv("SHELFSYNC_HOME", str(elsewhere / ".shelfsync"))
    assert read_settings().platform.chain == "from-the-file"
    write(elsewhere / "state" / "shelfsync.toml", "[platform]\nchain = 'other'\n")
    monkeypatch.setenv("SHELFSYNC_HOME", str(elsewhere / "state"))
    assert read_settings().platform.chain == "other"


@pytest.mark.parametrize("mode", [0o646, 0o660, 0o666])
def test_a_file_that_others_can_write_is_rejected(elsewhere, monkeypatch, mode):
    file = write(elsewhere / "mine.toml")
    monkeypatch.setenv("SHELFSYNC_CONFIG", str(file))
    assert read_settings().platform.chain == "from-the-file"
    if mode == 0o660:
        share(file)
    file.chmod(mode)
    with pytest.raises(ConfigurationError, match=r"SHELFSYNC_CONFIG: .*can be written by others.*chmod go-w"):
        read_settings()


def test_a_file_in_a_folder_that_others_can_write_is_rejected(elsewhere, monkeypatch):
    file = write(elsewhere / "shared" / "mine.toml")
    monkeypatch.setenv("SHELFSYNC_CONFIG", str(file))
    file.parent.chmod(0o777)
    with pytest.raises(ConfigurationError, match="shared' can be written by others"):
        read_settings()
    file.parent.chmod(0o1777)  # as /tmp: each owner's files are safe
    assert read_settings().platform.chain == "from-the-file"
    (elsewhere / "link.toml").symlink_to(file)
    monkeypatch.setenv("SHELFSYNC_CONFIG", str(elsewhere / "link.toml"))
    file.parent.chmod(0o777)
    with pytest.raises(ConfigurationError, match="shared' can be written by others"):
        read_settings()


@pytest.mark.parametrize("what", ["file", "folder", "link"])
def test_a_file_of_another_user_is_rejected(elsewhere, what):
    file = write(elsewhere / "theirs" / "shelfsync.toml")
    link = elsewhere / "link.toml"
    link.symlink_to(file)
    owned = {"file": file, "folder": file.parent, "link": link}[what]
    try:
        os.chown(owned, OTHER_USER, OTHER_USER, follow_symlinks=False)
    except (
        PermissionError
    ):  # only root can give a file away: then another user's file is the machine's own check of root's folders
        assert os.geteuid() != 0
        return
    with pytest.raises(ConfigurationError, match="another user"):
        reject_shared(link if what == "link" else file, "SHELFSYNC_CONFIG")


@pytest.mark.parametrize("closed", ["file", "folder"])
def test_a_file_that_the_user_may_not_read_is_named_with_what_to_do(elsewhere, monkeypatch, reachable_folder, closed):
    if os.geteuid() != 0:
        pytest.skip("only root may act for another user")
    file = write(reachable_folder / f"closed-{closed}" / "shelfsync.toml")
    (file if closed == "file" else file.parent).chmod(0o700)
    file.parent.chmod(0o755 if closed == "file" else 0o700)
    monkeypatch.setenv("SHELFSYNC_CONFIG", str(file))
    os.seteuid(OTHER_USER)
    try:
        with pytest.raises(ConfigurationError, match=r"shelfsync\.toml cannot be read: Permission denied") as error:
            read_settings()
    finally:
        os.seteuid(0)
    assert "Let the user of this process read it" in str(error.value)


def test_a_mapping_hook_that_others_can_write_is_not_run(elsewhere):
    file = write(elsewhere / "hook.py", HOOK)
    assert MappingHook(f"{file}:shape").load() is not None
    file.chmod(0o666)
    with pytest.raises(ConfigurationError, match=r"SHELFSYNC_ERP__MAPPING: .*can be written by others"):
        MappingHook(f"{file}:shape").load()


@pytest.mark.parametrize("setting", ["sql_file", "vendor_ids_file"])
def test_an_erp_file_that_others_can_write_is_not_used(elsewhere, setting):
    """One is executed in the ERP, the other decides which store gets whose prices."""
    (elsewhere / "erp.csv").write_text("vendor,sku,price\nstore-001,a,1\n")
    sqlite3.connect(elsewhere / "erp.db").execute("CREATE TABLE stock (vendor, sku, price)").connection.close()
    content = {"sql_file": "SELECT vendor, sku, price FROM stock", "vendor_ids_file": "erp,platform\n1,store-001\n"}[
        setting
    ]
    file = write(elsewhere / "shared" / "file", content)
    source = {
        "sql_file": {"url": f"sqlite:///{elsewhere}/erp.db"},
        "vendor_ids_file": {"files": f"{elsewhere}/erp.csv"},
    }
    settings = ErpSettings(**source[setting], **{setting: file})
    open_source(settings).check()
    file.chmod(0o666)
    with pytest.raises(ConfigurationError, match=rf"SHELFSYNC_ERP__{setting.upper()}: .*can be written by others"):
        open_source(settings).check()


@pytest.mark.slow
@pytest.mark.parametrize("start", ENTRY_POINTS)
def test_every_entry_point_keeps_what_it_writes_from_other_users(tmp_path, start):
    # The command line ends its process without a way back: here such an end is an exception like any other.
    program = f"import os, sys\nos.umask(0)\nos._exit = sys.exit\nsys.argv = ['x', '--no-such-option']\n{start}\ntry:\n    main()\nexcept BaseException:\n    pass\nprint('umask', oct(os.umask(0)))\n"
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SHELFSYNC_", "AIRFLOW_"))}
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("include", "plugins"))
    # A setting that makes no sense ends each of them before it starts anything.
    environment = clean | {
        "PYTHONPATH": paths,
        "SHELFSYNC_PLATFORM__ITEM_KEY": "neither",
        "SHELFSYNC_HOME": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "umask 0o27" in done.stdout, done.stderr


def test_an_order_file_is_for_our_user_and_group_alone(tmp_path):
    before = os.umask(0)
    try:
        Files(str(tmp_path)).write(Document(7, "o-1", "order", "store-001", '{"name": "canary"}'))
    finally:
        os.umask(before)
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
