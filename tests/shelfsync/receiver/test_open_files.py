"""The limit of open files bounds the connections, and a line of the log says so."""

from __future__ import annotations

import resource

import pytest

from shelfsync.receiver import open_files


@pytest.mark.parametrize(
    ("soft", "hard", "most", "raised_to"),
    [
        (1024, 4096, 500, None),
        (256, 4096, 500, 500 + open_files.DESCRIPTORS_OF_OURS),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, 9_000, None),
        (256, resource.RLIM_INFINITY, 500, 500 + open_files.DESCRIPTORS_OF_OURS),
    ],
)
def test_the_limit_is_raised_as_far_as_the_connections_need(monkeypatch, soft, hard, most, raised_to):
    given = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: given.append(limits[0]))
    assert open_files.allow_connections(most) == most
    assert given == ([] if raised_to is None else [raised_to])


def test_with_fewer_files_there_are_fewer_connections_and_the_log_says_so(monkeypatch, caplog):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 256))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: None)
    assert open_files.allow_connections(500) == 256 - open_files.DESCRIPTORS_OF_OURS
    assert "room for 128 connections only" in caplog.text
