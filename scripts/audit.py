"""`make audit`: known vulnerabilities of every pinned package, from a public database of them (OSV), by pip-audit.

Exit 0: none is known, or the database cannot be reached, and the output shows which. Exit 1: some are known; they are listed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PINS = "requirements-dev.txt"
"""All that `make setup` installs; what production installs (requirements.txt) is a part of it."""


def report() -> tuple[list[dict[str, Any]] | None, str]:
    """(packages with their vulnerabilities, None: no answer; the last line of what went wrong)."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", PINS, "--require-hashes", "--disable-pip"]
    command += ["--vulnerability-service", "osv", "--format", "json", "--progress-spinner", "off", "--timeout", "15"]
    if url := os.environ.get("AUDIT_OSV_URL"):
        command += ["--osv-url", url]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    try:
        packages: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        lines = done.stderr.strip().splitlines()
        return None, lines[-1] if lines else f"pip-audit ended with {done.returncode}"
    return packages, ""


def main() -> int:
    packages, trouble = report()
    if packages is None:
        print(f"audit: NOT DONE: the vulnerability database cannot be used ({trouble[:200]})")
        return 0
    found = [(package, one) for package in packages for one in package.get("vulns", ())]
    for package, one in found:
        fixed = ", ".join(one["fix_versions"]) or "no version yet"
        print(f"audit: {package['name']} {package['version']}: {one['id']}, repaired in {fixed}")
    print(f"audit: {len(packages)} packages of {PINS} looked up, {len(found)} known vulnerabilities")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
