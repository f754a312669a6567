"""Two stores of an ERP that writes its times, and the folder of its changes."""

from __future__ import annotations

import pytest

from change_folder import STORES
from stamped_erp import TIMES, StampedErp


@pytest.fixture
def erp(tmp_path):
    return StampedErp(tmp_path / "erp.sqlite")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "feed").mkdir()
    return tmp_path / "feed"


@pytest.fixture
def world(make_world, platform, erp, folder):
    erp.fill(platform, STORES)
    return make_world(erp={"url": erp.url, "sql": TIMES["sql"], "changes_files": str(folder)})


@pytest.fixture
def hook(tmp_path):
    """The file of a mapping hook, writable for its owner alone."""
    (tmp_path / "hook.py").touch(mode=0o600)
    return tmp_path / "hook.py"
