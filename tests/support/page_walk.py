"""Runs the command blocks of a page as they are written: in one shell, in order, against the sandbox that the page starts.

A line before each block names what becomes of it:

    <!-- run -->               it runs and succeeds; `<!-- run: exit 9 -->`: its last command ends with 9
    <!-- not run: reason -->   it does not run here

A ```text block right below a block that runs is what it prints: each line is in the output, in order; `…` stands for anything. A page that
needs the first N blocks of another has `<!-- after: N of tutorials/page.md -->`. One with `<!-- needs: PostgreSQL -->` finds an empty database
in SHELFSYNC_DATABASE_URL and the server's programs on its path. The page's ports are replaced by free ones, because another installation may
have them; nothing else is changed.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from shelfsync.local import postgres_binaries

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
WALKED = [*sorted((DOCS / "tutorials").rglob("*.md")), *sorted((DOCS / "how-to").rglob("*.md"))]
TIMEOUT_S = 500.0
_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>(?:not )?run[^>]*?) -->\n)?^```sh\n(?P<text>.*?)^```\n(?:\n```text\n(?P<prints>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
_PORTS = re.compile(r"(?<=127\.0\.0\.1:)\d{4}|(?<=--port )\d{4}|(?<=__PORT=)\d{4}")
_END = "::end-of-block"


@dataclass(frozen=True)
class Block:
    """One ```sh block: where it begins, its mark, its commands, and what they print."""

    line: int
    mark: str
    text: str
    prints: str

    @property
    def runs(self) -> bool:
        return self.mark.startswith("run")

    @property
    def exit_code(self) -> int:
        return int(self.mark.rpartition(" ")[2]) if "exit" in self.mark else 0

    @property
    def reason(self) -> str:
        return self.mark.partition(":")[2].strip()


def blocks(page: Path) -> list[Block]:
    """All ```sh blocks of a page, in order."""
    text = page.read_text("utf-8")
    return [
        Block(text.count("\n", 0, found.start()) + 1, found["mark"] or "", found["text"], found["prints"] or "")
        for found in _BLOCK.finditer(text)
    ]


def needs_postgresql(page: Path) -> bool:
    return "\n<!-- needs: PostgreSQL -->\n" in page.read_text("utf-8")


_HELD = 'shelfsync() { command shelfsync "$@" || { ended=$?; [ $ended -eq 10 ] || return $ended; }; }\n'
"""A sync that held changes ends with 10: it did the rest, so a page goes on."""


def walk(page: Path, folder: Path, database_url: str = "") -> list[str]:
    """What went wrong, a line each; the commands run in `folder`, which has the project's files and becomes the page's."""
    for name in (".venv", "docs", "dags", "plugins", "Makefile", "docker-compose.yaml"):
        (folder / name).symlink_to(ROOT / name)
    earlier = re.findall(r"^<!-- after: (\d+) of (\S+) -->$", page.read_text("utf-8"), re.MULTILINE)
    found = [(DOCS / other, block) for count, other in earlier for block in blocks(DOCS / other)[: int(count)]]
    found += [(page, block) for block in blocks(page) if block.runs]
    script = _HELD + "".join(
        f"set {'+e' if block.exit_code else '-e'}\n{block.text}printf '\\n%s %s %s\\n' {_END} {number} $?\n"
        for number, (_, block) in enumerate(found)
    )
    ports = {port: str(_free_port()) for port in set(_PORTS.findall(script))}
    output = _run(_PORTS.sub(lambda port: ports[port[0]], script), folder, database_url)
    parts = re.split(rf"^{_END} (\d+) (\d+)\n", output, flags=re.MULTILINE)
    ended = {
        int(number): (text, int(code)) for text, number, code in zip(parts[::3], parts[1::3], parts[2::3], strict=False)
    }
    for number, (path, block) in enumerate(found):
        where = f"{path.parent.name}/{path.name}:{block.line}"
        if number not in ended:
            return [f"{where} failed and printed:\n{parts[-1]}"]
        text, code = ended[number]
        if code != block.exit_code:
            return [f"{where} ended with {code}, not {block.exit_code}, and printed:\n{text}"]
        if lacking := missing(block.prints, text):
            return [f"{where} does not print {lacking!r} but:\n{text}"]
    return []


def missing(expected: str, output: str) -> str | None:
    """The first expected line that the output has not, behind the ones before it; None: it has all."""
    rest = _plain(output)
    for line in filter(None, map(_plain, expected.splitlines())):
        match = re.search(".*?".join(map(re.escape, line.split("…"))), rest)
        if match is None:
            return line
        rest = rest[match.end() :]
    return None


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _run(script: str, folder: Path, database_url: str) -> str:
    kept = ("PATH", "LANG", "TMPDIR", "SSL_CERT_FILE")
    environment = {name: value for name, value in os.environ.items() if name in kept}
    environment |= {"HOME": str(folder), "COLUMNS": "160", "NO_COLOR": "1"}
    if database_url:
        programs = Path(postgres_binaries.find().program("psql")).parent
        environment |= {"SHELFSYNC_DATABASE_URL": database_url, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    (folder / "page.sh").write_text(script, encoding="utf-8")
    with (folder / "output").open("w+b") as output:
        shell = subprocess.Popen(
            ["bash", "page.sh"],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            shell.wait(TIMEOUT_S)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
            (folder / "page.sh").unlink()  # it has the sandbox's secret
        output.seek(0)
        return output.read().decode(errors="replace")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
