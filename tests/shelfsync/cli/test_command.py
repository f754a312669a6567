"""What a person learns from `--help`: groups, two examples a command that can be typed, one meaning an option, the exit codes."""

from __future__ import annotations

import json
import re
from collections import defaultdict

import pytest

from command_tree import ROOT, commands, options, parse
from shelfsync.chosen_chain import chosen
from shelfsync.cli.app import run
from shelfsync.cli.command import print_error
from shelfsync.errors import HeldError
from shelfsync.exit_codes import ExitCode

COMMANDS = dict(commands())
GROUPS = ("sync", "inspect", "decide", "control", "data", "this machine")
RETIRED = ("--why", "--who", "--by", "--check", "--plan", "--for", "--anyway", "--rows", "--days")


def help_of(capsys, *words: str) -> str:
    assert run([*words, "--help"]) == ExitCode.SUCCESS
    printed = capsys.readouterr()
    assert (printed.err, "\x1b" in printed.out) == ("", False)
    return printed.out


def examples(text: str) -> list[str]:
    return [line.strip() for line in text.partition("Examples:\n")[2].splitlines() if line.strip()]


def test_the_commands_stand_in_groups_and_the_exit_codes_below_them(capsys):
    text = help_of(capsys)
    found = re.findall(r"─ ([a-z ]+) ─", text)
    assert tuple(found) == GROUPS
    for code in ExitCode:
        assert f"{code:>3}  {code.meaning}" in text
    first_words = re.findall(r"^│ ([a-z][a-z-]*) ", text, re.MULTILINE)
    assert sorted(first_words) == sorted(ROOT.commands)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_has_two_examples_that_can_be_typed(words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("plan.json", "picked.json"):
        (tmp_path / name).touch()
    found = examples(help_of(capsys, *words))
    assert len(found) >= 2
    assert len(set(found)) == len(found)
    for line in found:
        assert f"shelfsync {' '.join(words)}" in line
        parse(line)


@pytest.mark.parametrize("words", [(), *((name,) for name in sorted(ROOT.commands)), *COMMANDS], ids=" ".join)
def test_help_names_no_type_of_a_program(words, capsys):
    """A flag takes no value, and an argument has its name; a choice names its words."""
    assert re.findall(r"<(?:bool|str|int|float|path|file|list.*?)>", help_of(capsys, *words)) == []


def test_what_may_be_repeated_is_marked_once(capsys):
    assert "shelfsync rejections release [OPTIONS] {VENDOR} {SKU}...\n" in re.sub(
        " +\n", "\n", help_of(capsys, "rejections", "release")
    )
    assert "shelfsync holds approve [OPTIONS] [HOLD]...\n" in re.sub(" +\n", "\n", help_of(capsys, "holds", "approve"))


def test_an_option_has_one_meaning():
    """The same spelling takes the same kind of value everywhere; `-v` is verbose, and retired names are removed."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for command in COMMANDS.values():
        for spelling, param in options(command).items():
            if param is not None and spelling not in {"--kind", "--state", "--reason"}:  # words of a list, which differ
                kinds[spelling].add(f"{param.metavar} {param.is_flag}")
    assert {spelling: found for spelling, found in kinds.items() if len(found) > 1} == {}
    assert set(RETIRED) & set(kinds) == set()
    assert {options(command)["-v"].name for command in COMMANDS.values() if "-v" in options(command)} == {"verbose"}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_but_those_of_the_stack_and_of_agents_prints_json_and_can_be_quiet(words):
    own = {"--json", "--quiet", "--verbose", "-v"} & set(options(COMMANDS[words]))
    assert own == (set() if words[0] in {"up", "down", "demo", "mcp"} else {"--json", "--quiet", "--verbose", "-v"})


@pytest.mark.parametrize(
    "words",
    [
        ("holds", "show", f"{2**63}"),
        ("holds", "approve", "1", f"{2**63}"),
        ("runs", "list", "--limit", f"{2**63}"),
        ("inbox", "replay", f"{2**63}"),
    ],
)
def test_a_number_that_no_row_has_is_rejected_as_such(capsys, words):
    assert run(list(words)) == ExitCode.USAGE
    assert f"{2**63} is larger than any number that shelfsync has" in capsys.readouterr().err


def test_an_error_names_the_commands_of_the_chosen_chain(capsys):
    with chosen("north"):
        print_error(HeldError("2 changes are held"), brief="Held. Next: `shelfsync holds list`", as_json=True)
    printed = capsys.readouterr()
    assert "Next: `shelfsync --chain north holds list`" in printed.err
    assert json.loads(printed.out)["error"]["remedy"] == "Run `shelfsync --chain north holds list`."
