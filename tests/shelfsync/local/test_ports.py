"""A port in use belongs to the process that uses it."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

import pytest

from shelfsync.local.ports import LOOPBACK, PortClaims, is_free_port, next_free_port, remember_port, remembered_port

if TYPE_CHECKING:
    from pathlib import Path


def test_a_port_in_use_is_not_free_and_the_next_free_one_is_found() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not is_free_port(port)
        found = next_free_port(port)
        assert found > port
        assert is_free_port(found)
        assert next_free_port(port, besides=[found]) > found


def test_a_port_is_remembered_and_nonsense_is_not(tmp_path: Path) -> None:
    file = tmp_path / "port"
    assert remembered_port(file) is None
    remember_port(file, 8123)
    assert remembered_port(file) == 8123


def test_who_reads_while_another_remembers_has_the_old_port_or_the_new_one(tmp_path: Path) -> None:
    file, ended, seen = tmp_path / "port", threading.Event(), set()
    remember_port(file, 8123)

    def read() -> None:
        while not ended.is_set():
            seen.add(remembered_port(file))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(500):
            remember_port(file, (8123, 54321)[number % 2])
    finally:
        ended.set()
        reader.join()
    assert seen <= {8123, 54321}
    assert [one.name for one in tmp_path.iterdir()] == ["port"]


@pytest.mark.parametrize("nonsense", ["", "x", "0", "-4", "65536"])
def test_what_is_no_port_counts_as_none(tmp_path: Path, nonsense: str) -> None:
    (tmp_path / "port").write_text(nonsense)
    assert remembered_port(tmp_path / "port") is None


def test_two_stacks_that_start_at_once_never_choose_the_same_port() -> None:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        first = probe.getsockname()[1]
    with PortClaims() as one, PortClaims() as other:
        mine = one.next_free(first)
        theirs = other.next_free(first)
        assert mine != theirs
        assert one.next_free(first) not in {mine, theirs}
    with PortClaims() as later:
        assert later.next_free(mine) == mine
