"""Every command of `shelfsync --help`, each in a separate process against a whole installation."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from documents import data, error
from installation.commands import COMMANDS, Call
from installation.installed import clean_environment
from installation.process import run
from installation.state import HELD, Chain, sending_paused

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from installation.installed import Installation

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def chain(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    """The installation with what a user does in it, while nothing else sends."""
    chain = Chain(installation, tmp_path_factory.mktemp("user"))
    with sending_paused(installation):
        yield chain
        chain.tidy()


@pytest.mark.parametrize("command", ["", *COMMANDS, *sorted({name.split()[0] for name in COMMANDS if " " in name})])
def test_a_command_explains_itself_to_a_user_who_has_configured_nothing(command: str, tmp_path: Path) -> None:
    program = clean_environment()["PATH"]
    done = run([sys.executable, "-m", "shelfsync", *command.split(), "--help"], {"PATH": program}, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: " in done.stdout
    assert list(tmp_path.iterdir()) == []


def _id(one: tuple[str, Call]) -> str:
    return " ".join((one[0], *one[1].words))


CALLS = [(name, call) for name, calls in COMMANDS.items() for call in calls]


@pytest.mark.parametrize(("name", "call"), CALLS, ids=map(_id, CALLS))
def test_a_command_does_what_its_user_asks_of_it(name: str, call: Call, chain: Chain) -> None:
    if call.has_json:
        done = _called(name, call, chain, "--json")
        document = error(done.stdout) if call.exit_code else data(done.stdout)
        assert call.claim(document), done.stdout
    done = _called(name, call, chain)
    assert call.prints in done.stdout, done.stdout
    if call.exit_code:
        assert len(done.stderr.strip().splitlines()) == 1, f"an error is one line:\n{done.stderr}"


def _called(name: str, call: Call, chain: Chain, *more: str) -> subprocess.CompletedProcess[str]:
    words = (*name.split(), *call.words, *call.state(chain), *more)
    elsewhere = chain.folder / "elsewhere.toml"
    done = chain.run(*words, config=elsewhere if name == "down" else None)
    assert done.returncode in ({call.exit_code} if call.exit_code else {0, HELD}), (
        f"shelfsync {' '.join(words)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return done
