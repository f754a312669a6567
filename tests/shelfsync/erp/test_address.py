"""Which files an address finds, and the mark by which a changed file is recognised."""

from __future__ import annotations

import os
import shutil

import fsspec
import pytest

from shelfsync.erp import address


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.csv", ["a.csv"]),
        ("?.csv", ["a.csv"]),
        ("[!b]*.csv", ["a.csv"]),
        ("{vendor}.csv", ["a.csv"]),
        ("{vendor}/*.csv", ["v/a.csv"]),
        ("*/*.csv", ["v/a.csv"]),
        ("**/*.csv", ["v/a.csv"]),
        (".*.csv", [".a.csv"]),
        (".new/*.csv", [".new/a.csv"]),
        ("v/.a.csv", ["v/.a.csv"]),
    ],
)
def test_a_pattern_finds_no_file_that_is_still_written_under_a_name_with_a_dot(tmp_path, pattern, expected):
    root = tmp_path / ".home"  # a folder that the address names is not hidden
    for place in (root, root / "v", root / ".new"):
        place.mkdir(parents=True)
        (place / "a.csv").touch()
        (place / ".a.csv").touch()
    found = [file.path.removeprefix(f"{root}/") for file in address.find(f"{root}/{pattern}", endings=())]
    assert found == expected


@pytest.mark.parametrize(
    "touch",
    [
        lambda path: path.chmod(0o600),
        lambda path: path.with_name("link").hardlink_to(path),
        lambda path: (
            path.with_name("copy").write_bytes(path.read_bytes()),
            shutil.copystat(path, path.with_name("copy")),
            path.with_name("copy").replace(path),
        ),
    ],
    ids=["chmod", "hard link", "copy of a backup"],
)
def test_what_leaves_the_content_alone_leaves_the_mark_of_a_file(tmp_path, touch):
    (tmp_path / "1.csv").write_text("a")
    (before,) = address.find(f"{tmp_path}/1.csv", endings=())
    touch(tmp_path / "1.csv")
    (after,) = address.find(f"{tmp_path}/1.csv", endings=())
    assert after.listed == before.listed


@pytest.mark.parametrize("text", ["ab", "b"])
def test_a_file_that_is_written_anew_has_another_mark(tmp_path, text):
    (tmp_path / "1.csv").write_text("a")
    os.utime(tmp_path / "1.csv", ns=(1, 1))
    (before,) = address.find(f"{tmp_path}/1.csv", endings=())
    (tmp_path / "1.csv").write_text(text)
    (after,) = address.find(f"{tmp_path}/1.csv", endings=())
    assert after.listed != before.listed


def test_while_a_file_is_read_its_state_shows_a_write_that_keeps_size_and_time(tmp_path):
    (tmp_path / "1.csv").write_text("a")
    (found,) = address.find(f"{tmp_path}/1.csv", endings=())
    before, time = found.stamp(), (tmp_path / "1.csv").stat().st_mtime_ns
    (tmp_path / "2.csv").write_text("b")
    (tmp_path / "2.csv").replace(tmp_path / "1.csv")
    os.utime(tmp_path / "1.csv", ns=(time, time))
    (again,) = address.find(f"{tmp_path}/1.csv", endings=())
    assert found.stamp() != before
    assert again.listed == found.listed


def test_a_storage_that_reports_no_time_of_change_is_followed_by_what_it_reports():
    with fsspec.open("memory://marks/1.csv", "w") as file:
        file.write("a")
    (before,) = address.find("memory://marks/1.csv", endings=())
    with fsspec.open("memory://marks/1.csv", "w") as file:
        file.write("b")
    (after,) = address.find("memory://marks/1.csv", endings=())
    assert after.listed != before.listed
