"""The lock between processes ends with its holder, however that ends."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from shelfsync.errors import TryAgainError
from shelfsync.local.file_lock import FileLock, alone

if TYPE_CHECKING:
    from pathlib import Path

HOLD = "import sys, pathlib\nfrom shelfsync.local.file_lock import FileLock\nl = FileLock(pathlib.Path(sys.argv[1])); print(l.take(), flush=True); input()"


def test_many_share_it_and_one_alone_excludes_them(tmp_path: Path) -> None:
    one, two, three = (FileLock(tmp_path / "lock") for _ in range(3))
    assert one.take(shared=True)
    assert two.take(shared=True)
    assert not three.take()
    one.release()
    two.release()
    assert three.take()
    assert not one.take(shared=True)
    three.release()


def test_a_holder_that_is_killed_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    ) as holder:
        assert holder.stdout.readline() == "True\n"
        mine = FileLock(path)
        assert not mine.take()
        holder.kill()
        holder.wait()
        assert mine.take(timeout_s=5)
        mine.release()


def test_a_wait_that_times_out_is_an_error_that_names_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with (
        alone(path, timeout_s=0, what="Doing this"),
        pytest.raises(TryAgainError, match="Doing this: another process"),
        alone(path, timeout_s=0.05, what="Doing this"),
    ):
        pass
