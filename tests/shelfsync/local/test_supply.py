"""What the project is made of: looked up for known vulnerabilities, and listed."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import re
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from shelfsync.settings_file import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator


def _pinned(name: str) -> set[tuple[str, str, bool]]:
    """(name, version, for every machine) of the pinned packages."""
    found = re.findall(r"^([A-Za-z0-9_.-]+)(?:\[.*?\])?==(\S+)( ;)?", (PROJECT / name).read_text("utf-8"), re.MULTILINE)
    return {(name.lower().replace("_", "-"), version, not marker) for name, version, marker in found}


@contextlib.contextmanager
def _database(vulnerable: str | None) -> Iterator[tuple[str, set[str]]]:
    """A vulnerability database that knows one vulnerable package; its address, and the requested names."""
    asked: set[str] = set()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            name = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["package"]["name"]
            asked.add(name)
            events = [{"introduced": "0"}, {"fixed": "99.1"}]
            affected = {
                "package": {"name": name, "ecosystem": "PyPI"},
                "ranges": [{"type": "ECOSYSTEM", "events": events}],
            }
            one = {
                "id": "X-2026-1",
                "summary": "s",
                "details": "d",
                "affected": [affected],
                "modified": "2026-01-01T00:00:00Z",
            }
            body = json.dumps({"vulns": [one]} if name == vulnerable else {}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Silent."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/", asked
        server.shutdown()


def _audit(url: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(PROJECT / "scripts/audit.py")],
        env={**os.environ, "AUDIT_OSV_URL": url},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("vulnerable", "code"), [(None, 0), ("jinja2", 1)])
def test_every_pinned_package_is_looked_up_and_what_is_known_fails(vulnerable: str | None, code: int) -> None:
    with _database(vulnerable) as (url, asked):
        done = _audit(url)
    assert done.returncode == code, done.stdout + done.stderr
    expected = {name for name, _, everywhere in _pinned("requirements-dev.txt") if everywhere}
    assert len(expected) > 150
    assert expected - {name.lower().replace("_", "-") for name in asked} == set()
    assert f"{code} known vulnerabilities" in done.stdout
    assert ("jinja2" in done.stdout) is bool(code)


@pytest.mark.slow
def test_if_the_database_cannot_be_reached_the_report_states_that_nothing_was_looked_up() -> None:
    done = _audit("http://127.0.0.1:9/")
    assert (done.returncode, "NOT DONE" in done.stdout) == (0, True), done.stdout + done.stderr
    assert "vulnerabilities" not in done.stdout.replace("vulnerability database", "")


@pytest.mark.slow
def test_the_list_of_parts_names_every_package_that_is_installed_with_its_version_and_hashes() -> None:
    file = PROJECT / "dist" / "sbom.json"
    done = subprocess.run(
        ["make", "-C", str(PROJECT), "--old-file=setup", "sbom"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    listed = json.loads(file.read_text("utf-8"))
    assert (listed["bomFormat"], listed["metadata"]["component"]["name"]) == ("CycloneDX", "shelfsync")
    parts = listed["components"]
    assert {(one["name"].lower().replace("_", "-"), one["version"]) for one in parts} == {
        (name, version) for name, version, _ in _pinned("requirements.txt")
    }
    for one in parts:
        assert one["purl"].startswith("pkg:pypi/")
        assert any(reference.get("hashes") for reference in one["externalReferences"]), one
