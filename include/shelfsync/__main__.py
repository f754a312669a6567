"""`python -m shelfsync` is `shelfsync`."""

from __future__ import annotations

from shelfsync.cli import main

main()
