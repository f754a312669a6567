"""What a person names for a measurement or a package to write replaces nothing of something else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import benchmarks.__main__ as bench
import soak.__main__ as soaking

PROJECT = Path(__file__).parents[2]
COMMANDS = {"bench": (bench.main, "stages"), "soak": (soaking.main, "failed_claims")}
BESIDE = {
    "text": lambda path: path.write_text("the only copy of something"),
    "bytes": lambda path: path.write_bytes(b"\xff\xfe\x00PK"),
    "JSON of something else": lambda path: path.write_text('{"price": 1}'),
    "a list": lambda path: path.write_text("[1, 2]"),
    "a link": lambda path: (path.with_name("kept").write_text("kept"), path.symlink_to(path.with_name("kept"))),
}


def _called(monkeypatch, command: str, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", [command, *words])
    with pytest.raises(SystemExit) as ended:
        COMMANDS[command][0]()
    assert ended.value.code == 2


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("beside", BESIDE)
def test_a_file_of_something_else_is_not_replaced(tmp_path, monkeypatch, capsys, command, beside):
    file = tmp_path / "named"
    BESIDE[beside](file)
    before = file.read_bytes()
    _called(monkeypatch, command, "--result", str(file))
    assert file.read_bytes() == before
    assert "is not replaced" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_and_a_file_in_no_folder_are_reported(tmp_path, monkeypatch, capsys, command):
    _called(monkeypatch, command, "--result", str(tmp_path))
    assert "is a folder" in capsys.readouterr().err
    _called(monkeypatch, command, "--result", str(tmp_path / "no" / "named"))
    assert "there is no folder" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_earlier_figures_may_be_replaced(tmp_path, command):
    file, has = tmp_path / "named", COMMANDS[command][1]
    for text in ("", json.dumps({has: []})):
        file.write_text(text)
        bench.figures.named(file, has=has, replace=False).check()
    file.write_text("something else")
    bench.figures.named(file, has=has, replace=True).check()


def test_a_folder_of_something_else_does_not_become_the_folder_of_a_chain(tmp_path, monkeypatch, capsys):
    (tmp_path / "100k").mkdir()
    (tmp_path / "100k" / "kept").write_text("the only copy")
    _called(monkeypatch, "bench", "--size", "100k", "--folder", str(tmp_path), "--result", str(tmp_path / "r.json"))
    assert "is no generated chain" in capsys.readouterr().err
    assert (tmp_path / "100k" / "kept").read_text() == "the only copy"


@pytest.mark.parametrize(("target", "word"), [("sbom", "SBOM"), ("sandbox-package", "DIST")])
def test_a_package_is_written_into_dist_alone(tmp_path, target, word):
    command = ["make", "-n", "-C", str(PROJECT), "--old-file=setup", target, f"{word}={tmp_path}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "dist" in done.stdout
    assert str(tmp_path) not in done.stdout
